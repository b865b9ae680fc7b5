//! Measures every proxy. Exits 1 when Failwell exceeds a limit.

use bench_gateway::options::Options;
use bench_gateway::run::run;
use std::process::ExitCode;

// One thread leaves the other cores to the programs under test.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::from(2);
        }
    };
    match run(&options).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!(
                "error: {error}\nhelp: a wrong answer or a dead proxy ends the run; start it again by hand to see why"
            );
            ExitCode::FAILURE
        }
    }
}
