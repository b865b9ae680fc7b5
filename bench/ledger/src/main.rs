//! Measures the ledger alone, then its cost to the gateway. Exits 1 when the cost exceeds a limit.

use bench_server::options::Options;
use std::process::ExitCode;
use std::time::Duration;

/// The measuring time of the ledger alone, per durability.
const ALONE: Duration = Duration::from_secs(5);

async fn measure(options: &Options) -> Result<bool, String> {
    bench_ledger::standalone::run(ALONE).await?;
    bench_ledger::cost::run(options).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    match measure(&options).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!(
                "error: {error}\nhelp: a wrong answer or a dead server ends the run; start it again by hand to see why"
            );
            ExitCode::FAILURE
        }
    }
}
