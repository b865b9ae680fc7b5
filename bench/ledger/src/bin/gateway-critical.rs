//! The gateway with a ledger that every answer waits for.

use failwell_audit::Durability;
use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    bench_ledger::gateway::serve(Some(Durability::Critical)).await
}
