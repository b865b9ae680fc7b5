use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use failwell_server::House;
use failwell_transport::{StdioSettings, serve_stdio};

use super::{runtime, serve};
use crate::cli::Stdio;
use crate::complaint::Complaint;

/// Serves the client on standard input and output until it hangs up.
pub(super) fn run(arguments: &Stdio) -> Result<ExitCode, Complaint> {
    serve_one(|| serve::house(&arguments.bounds))
}

/// Serves the client on standard input and output with any house.
pub(super) fn serve_one(
    house: impl FnOnce() -> Result<Arc<House>, Complaint>,
) -> Result<ExitCode, Complaint> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let house = house()?;
        let stop = serve::stop_on_signal();
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        let served = serve_stdio(house.clone(), input, output, StdioSettings::default(), stop).await;
        house.journal().flush();
        served.map_err(|fault| serve::unexpected(&fault))
    });
    // Reading standard input blocks a thread that nothing can wake, so it is not waited for.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served.map(|()| ExitCode::SUCCESS)
}
