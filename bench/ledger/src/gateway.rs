//! A gateway in front of one echo server over HTTP, as `failwell up` wires it.

use crate::folder::Folder;
use bench_server::child::Server;
use bench_server::lifecycle::{open, shutdown_requested};
use failwell_audit::{Durability, Ledger, LedgerSettings};
use failwell_controls::{Settings, Telemetry, build_pipeline};
use failwell_gateway::{Endpoint, Gateway, UpstreamSettings};
use failwell_journal::{Journal, LogStyle};
use failwell_process::Launcher;
use failwell_toolbox::Info;
use failwell_transport::serve_http;
use std::error::Error;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const INFO: Info = Info { name: "failwell", title: "Failwell", version: "0.1.0", instructions: "" };

/// Serves until it is stopped, with a ledger of this durability or without one.
pub async fn serve(durability: Option<Durability>) -> Result<(), Box<dyn Error>> {
    let upstream = Server::start("upstream-http")?;
    let reach = Endpoint::Http { url: format!("http://{}/mcp", upstream.address), headers: Vec::new() };
    let settings = vec![UpstreamSettings::new("up", reach)];
    let launcher = Launcher::at("/nowhere");
    let gateway = Gateway::new(INFO, settings, Vec::new(), &launcher);
    let folder = Folder::new("gateway");
    let journal = Journal::to(LogStyle::Json, std::io::sink());
    let telemetry = Telemetry::from(journal.clone());
    let telemetry = match durability {
        Some(durability) => {
            let settings = LedgerSettings { durability, ..LedgerSettings::in_folder(&folder.0) };
            telemetry.with_ledger(Ledger::start(settings, journal))
        }
        None => telemetry,
    };
    let pipeline = build_pipeline(Arc::new(gateway.clone()), Settings::default(), telemetry);
    let pipeline = pipeline.map_err(|fault| fault.to_string())?;
    gateway.announce_to(pipeline.hub());
    let stop = CancellationToken::new();
    let serving = serve_http(pipeline, open().await?, failwell_rest::http_settings(), stop.clone());
    let serving = tokio::spawn(serving);
    shutdown_requested().await;
    stop.cancel();
    serving.await?.map(|_| ()).map_err(|fault| fault.to_string().into())
}
