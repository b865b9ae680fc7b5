//! Serves the fixture, over HTTP or over standard input and output.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use failwell_controls::{Settings, build_pipeline};
use failwell_fault::{Fault, OrFault, reason};
use failwell_journal::Journal;
use failwell_pipeline::{PipelineSettings, keep_panics_quiet};
use failwell_rpc::Era;
use failwell_transport::{StdioSettings, serve_http, serve_stdio};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The conformance fixture.
#[derive(Parser)]
#[command(name = "fixture")]
struct Arguments {
    /// Serve HTTP here.
    #[arg(long, value_name = "ADDR", required_unless_present = "stdio", conflicts_with = "stdio")]
    listen: Option<SocketAddr>,
    /// Serve standard input and output.
    #[arg(long)]
    stdio: bool,
    /// Speak one era only: `session` or `modern`.
    #[arg(long, value_parser = era)]
    era: Option<Era>,
}

fn era(name: &str) -> Result<Era, &'static str> {
    match name {
        "session" => Ok(Era::Session),
        "modern" => Ok(Era::Modern),
        _ => Err("one of: session, modern"),
    }
}

fn main() -> ExitCode {
    keep_panics_quiet();
    let arguments = Arguments::parse();
    let served = tokio::runtime::Runtime::new().or_fault(&reason::SERVER_BUG).and_then(|runtime| {
        let served = runtime.block_on(serve(arguments.listen, arguments.era));
        // A thread may still read standard input. The program ends without waiting for it.
        runtime.shutdown_background();
        served
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let _ = writeln!(std::io::stderr(), "error: {}", fault.operator());
            ExitCode::FAILURE
        }
    }
}

async fn serve(listen: Option<SocketAddr>, only: Option<Era>) -> Result<(), Fault> {
    let journal = Journal::to_stderr();
    let bounds = PipelineSettings { only, ..PipelineSettings::default() };
    let settings = Settings { bounds, ..Settings::default() };
    let pipeline = build_pipeline(Arc::new(failwell_suite::fixture()?), settings, journal.clone())?;
    let stop = stopped_by_signal()?;
    let served = match listen {
        None => {
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            serve_stdio(pipeline, input, output, StdioSettings::default(), stop).await
        }
        Some(address) => {
            let listener = tokio::net::TcpListener::bind(address).await.or_fault(&reason::CONFIG_INVALID)?;
            let local = listener.local_addr().or_fault(&reason::SERVER_BUG)?;
            let _ = writeln!(std::io::stderr(), "listening on http://{local}/mcp");
            serve_http(pipeline, listener, failwell_rest::http_settings(), stop).await
        }
    };
    journal.flush();
    served.map(|_| ())
}

/// Set by the first SIGTERM or SIGINT.
fn stopped_by_signal() -> Result<CancellationToken, Fault> {
    let mut terminated = signal(SignalKind::terminate()).or_fault(&reason::SERVER_BUG)?;
    let mut interrupted = signal(SignalKind::interrupt()).or_fault(&reason::SERVER_BUG)?;
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
        stopping.cancel();
    });
    Ok(stop)
}
