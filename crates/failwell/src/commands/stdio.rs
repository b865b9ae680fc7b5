use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use failwell_server::House;
use failwell_transport::{StdioSettings, refuse_stdio, serve_stdio, standard};
use tokio_util::sync::CancellationToken;

use super::configured::Misconfigured;
use super::reload::{Origin, Running};
use super::served::Served;
use super::shared::Shared;
use super::{runtime, serve};
use crate::cli::{Bounds, Stdio};
use crate::complaint::Complaint;
use crate::config::Config;

/// Serves the client on standard input and output until it hangs up.
pub(super) fn run(arguments: &Stdio) -> Result<ExitCode, Complaint> {
    to_its_end(async {
        let origin = Origin::of(arguments.config.as_deref());
        match origin.settle() {
            Ok(config) => {
                let served = Served::new(&arguments.bounds, &config, Shared::nothing(&config))?;
                let (house, end, stop) = (served.house.clone(), served.end(), serve::stop_on_signal());
                // Nothing is listened on here, and one client has no use for other nodes.
                let overruled = vec!["listen", "state", "require_key"];
                let running = Running { origin, config, served, overruled, entrance: None, demo: None };
                tokio::spawn(running.follow(stop.clone()));
                let ended = converse(&house, stop).await;
                end();
                ended
            }
            Err(wrong) => refuse(&arguments.bounds, wrong).await,
        }
    })
}

/// Serves the client on standard input and output with one house.
pub(super) fn serve_one(
    house: impl FnOnce() -> Result<Arc<House>, Complaint>,
) -> Result<ExitCode, Complaint> {
    to_its_end(async {
        let house = house()?;
        let ended = converse(&house, serve::stop_on_signal()).await;
        house.books().flush();
        ended
    })
}

fn to_its_end(serving: impl Future<Output = Result<ExitCode, Complaint>>) -> Result<ExitCode, Complaint> {
    let runtime = runtime()?;
    let ended = runtime.block_on(serving);
    // Reading standard input may block a thread that nothing can wake, so it is not waited for.
    runtime.shutdown_timeout(Duration::from_millis(100));
    ended
}

async fn converse(house: &Arc<House>, stop: CancellationToken) -> Result<ExitCode, Complaint> {
    let (input, output) = standard();
    let served = serve_stdio(house.clone(), input, output, StdioSettings::default(), stop).await;
    served.map(|()| ExitCode::SUCCESS).map_err(|fault| serve::unexpected(&fault))
}

/// A desktop client shows what is answered, and seldom what is on standard error: it gets the reason both ways.
async fn refuse(bounds: &Bounds, wrong: Misconfigured) -> Result<ExitCode, Complaint> {
    let config = Config::default();
    let house = Served::new(bounds, &config, Shared::nothing(&config))?.house;
    let stop = serve::stop_on_signal();
    let (input, output) = standard();
    let fault = wrong.fault();
    let complaint = wrong.report();
    refuse_stdio(house.clone(), input, output, fault, stop).await;
    house.books().flush();
    Err(complaint)
}
