use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_pipeline::Pipeline;
use failwell_transport::{StdioSettings, refuse_stdio, serve_stdio, standard, stop_on_signal};
use tokio_util::sync::CancellationToken;

use super::reload::{ConfigSource, ServedConfig};
use super::serve;
use super::served_gateway::ServedGateway;
use super::start_error::{StartError, plugin_complaint};
use crate::cli::{Bounds, Stdio};
use crate::commands::backends::shared::SharedBackends;
use crate::commands::runtime;
use crate::complaint::Complaint;
use crate::config::Config;
use crate::terminal;

/// Serves one client over stdio until it disconnects.
pub(in crate::commands) fn run(arguments: &Stdio) -> Result<ExitCode, Complaint> {
    to_its_end(async {
        let source = ConfigSource::of(arguments.config.as_deref(), &arguments.command);
        match source.settle() {
            Ok(config) => {
                let shared = SharedBackends::of_one_client(&config)?;
                let served = match ServedGateway::new(&arguments.bounds, &config, shared).await {
                    Err(StartError::Plugin(fault)) => {
                        let complaint = plugin_complaint(&fault);
                        let notice =
                            move || Fault::new(fault.reason()).note("start", fault.operator().to_string());
                        return refuse(notice, complaint).await;
                    }
                    served => served?,
                };
                source.announce(&served.pipeline, &config);
                served.disabled.iter().for_each(|line| terminal::report(&format!("{line}\n")));
                let (pipeline, end, stop) = (served.pipeline.clone(), served.end(), stop_on_signal());
                // Stdio listens on no address and has one client, so these keys do not apply.
                let overruled = vec!["listen", "state", "require_key"];
                let running = ServedConfig { source, config, served, overruled, endpoint: None, demo: None };
                tokio::spawn(running.follow(stop.clone()));
                let drain = Duration::from_secs(arguments.bounds.drain);
                let settings = StdioSettings { drain, ..StdioSettings::default() };
                let ended = converse(&pipeline, settings, stop).await;
                end();
                ended
            }
            Err(wrong) => {
                let fault = wrong.fault();
                refuse(fault, wrong.report()).await
            }
        }
    })
}

/// Serves one client over stdio with a given pipeline.
pub(super) fn serve_one(
    pipeline: impl FnOnce() -> Result<Arc<Pipeline>, Complaint>,
) -> Result<ExitCode, Complaint> {
    to_its_end(async {
        let pipeline = match pipeline() {
            Ok(pipeline) => pipeline,
            Err(complaint) => return refuse(complaint.fault(), complaint).await,
        };
        let ended = converse(&pipeline, StdioSettings::default(), stop_on_signal()).await;
        serve::close(&pipeline);
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

async fn converse(
    pipeline: &Arc<Pipeline>,
    settings: StdioSettings,
    stop: CancellationToken,
) -> Result<ExitCode, Complaint> {
    greet();
    let (input, output) = standard();
    let served = serve_stdio(pipeline.clone(), input, output, settings, stop).await;
    served.map(|_| ExitCode::SUCCESS).map_err(|fault| serve::unexpected(&fault))
}

/// Says at a terminal why nothing happens.
fn greet() {
    if terminal::is_typed() {
        terminal::report(
            "waiting for an MCP client on standard input; clients start this command themselves, and Ctrl-D ends it\n",
        );
    }
}

/// Desktop clients show responses but rarely standard error. The error goes to both.
async fn refuse(fault: impl Fn() -> Fault + Send, complaint: Complaint) -> Result<ExitCode, Complaint> {
    let (config, bounds) = (Config::default(), Bounds::default());
    let pipeline = ServedGateway::new(&bounds, &config, SharedBackends::nothing(&config)).await?.pipeline;
    greet();
    let stop = stop_on_signal();
    let (input, output) = standard();
    pipeline.journal().note_trouble(
        "the server does not start: its configuration is wrong",
        "failwell",
        &fault(),
    );
    refuse_stdio(pipeline.clone(), input, output, fault, stop).await;
    serve::close(&pipeline);
    Err(complaint)
}
