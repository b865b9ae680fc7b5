//! The gateway, with a ledger.

use failwell_audit::Durability;
use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    bench_ledger::gateway::serve(Some(Durability::BestEffort)).await
}
