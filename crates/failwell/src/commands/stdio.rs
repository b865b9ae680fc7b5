use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use failwell_pipeline::Pipeline;
use failwell_transport::{StdioSettings, refuse_stdio, serve_stdio, standard};
use tokio_util::sync::CancellationToken;

use super::configured::ConfigFileError;
use super::reload::{Origin, ServedConfig};
use super::served::ServedGateway;
use super::shared::SharedBackends;
use super::{runtime, serve};
use crate::cli::{Bounds, Stdio};
use crate::complaint::Complaint;
use crate::config::Config;

/// Serves one client over stdio until it disconnects.
pub(super) fn run(arguments: &Stdio) -> Result<ExitCode, Complaint> {
    to_its_end(async {
        let origin = Origin::of(arguments.config.as_deref());
        match origin.settle() {
            Ok(config) => {
                let served =
                    ServedGateway::new(&arguments.bounds, &config, SharedBackends::nothing(&config))?;
                let (pipeline, end, stop) = (served.pipeline.clone(), served.end(), serve::stop_on_signal());
                // Stdio listens on no address and has one client, so these keys do not apply.
                let overruled = vec!["listen", "state", "require_key"];
                let running = ServedConfig { origin, config, served, overruled, entrance: None, demo: None };
                tokio::spawn(running.follow(stop.clone()));
                let ended = converse(&pipeline, stop).await;
                end();
                ended
            }
            Err(wrong) => refuse(&arguments.bounds, wrong).await,
        }
    })
}

/// Serves one client over stdio with a given pipeline.
pub(super) fn serve_one(
    pipeline: impl FnOnce() -> Result<Arc<Pipeline>, Complaint>,
) -> Result<ExitCode, Complaint> {
    to_its_end(async {
        let pipeline = pipeline()?;
        let ended = converse(&pipeline, serve::stop_on_signal()).await;
        serve::flush(&pipeline);
        ended
    })
}

fn to_its_end(serving: impl Future<Output = Result<ExitCode, Complaint>>) -> Result<ExitCode, Complaint> {
    let runtime = runtime()?;
    let ended = runtime.block_on(serving);
    // A blocked read of standard input cannot be interrupted, so the shutdown does not wait for it.
    runtime.shutdown_timeout(Duration::from_millis(100));
    ended
}

async fn converse(pipeline: &Arc<Pipeline>, stop: CancellationToken) -> Result<ExitCode, Complaint> {
    let (input, output) = standard();
    let served = serve_stdio(pipeline.clone(), input, output, StdioSettings::default(), stop).await;
    served.map(|()| ExitCode::SUCCESS).map_err(|fault| serve::unexpected(&fault))
}

/// Desktop clients show responses but rarely standard error. The configuration error goes to both.
async fn refuse(bounds: &Bounds, wrong: ConfigFileError) -> Result<ExitCode, Complaint> {
    let config = Config::default();
    let pipeline = ServedGateway::new(bounds, &config, SharedBackends::nothing(&config))?.pipeline;
    let stop = serve::stop_on_signal();
    let (input, output) = standard();
    let fault = wrong.fault();
    let complaint = wrong.report();
    refuse_stdio(pipeline.clone(), input, output, fault, stop).await;
    serve::flush(&pipeline);
    Err(complaint)
}
