//! The gateway, without a ledger.

use std::error::Error;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    bench_ledger::gateway::serve(None).await
}
