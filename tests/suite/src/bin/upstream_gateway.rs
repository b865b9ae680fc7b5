//! The gateway with one upstream whose names have no prefix, so that a conformance suite can examine it.
//!
//! `upstream_gateway --listen ADDR COMMAND…` starts the command behind it; `upstream_gateway --listen ADDR http://…`
//! connects to it.

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use failwell_controls::{Settings, build_pipeline};
use failwell_fault::{Fault, OrFault, reason};
use failwell_gateway::{Endpoint, Gateway, UpstreamSettings};
use failwell_journal::Journal;
use failwell_pipeline::keep_panics_quiet;
use failwell_process::Launcher;
use failwell_toolbox::Info;
use failwell_transport::{PipelineSet, serve_http};
use tokio_util::sync::CancellationToken;

/// The gateway around one upstream.
#[derive(Parser)]
#[command(name = "upstream_gateway")]
struct Arguments {
    /// Serve HTTP here.
    #[arg(long, value_name = "ADDR")]
    listen: SocketAddr,
    /// The upstream: an address, or a command.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    upstream: Vec<String>,
}

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|first| first == failwell_process::ARGUMENT) {
        return failwell_process::supervise_main();
    }
    keep_panics_quiet();
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Runtime::new().or_fault(&reason::SERVER_BUG);
    match runtime.and_then(|runtime| runtime.block_on(serve(arguments))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let _ = writeln!(std::io::stderr(), "error: {}", fault.operator());
            ExitCode::FAILURE
        }
    }
}

async fn serve(arguments: Arguments) -> Result<(), Fault> {
    let mut words = arguments.upstream.into_iter();
    let first = words.next().or_fault(&reason::SERVER_BUG)?;
    let reach = if first.starts_with("http://") {
        Endpoint::Http { url: first, headers: Vec::new() }
    } else {
        Endpoint::Child {
            program: first.into(),
            arguments: words.collect(),
            folder: std::env::temp_dir(),
            environment: Vec::new(),
            inherited: vec!["PATH".to_owned(), "HOME".to_owned()],
        }
    };
    let info =
        Info { name: "upstream_gateway", title: "Gateway of one upstream", version: "1", instructions: "" };
    let launcher = Launcher::of_this_program()?;
    let gateway = Gateway::new(info, vec![UpstreamSettings::new("up", reach)], Vec::new(), &launcher);
    let journal = Journal::to_stderr();
    let whole = build_pipeline(Arc::new(gateway.clone()), Settings::default(), journal.clone())?;
    let server = gateway.single("up");
    let single = build_pipeline(server, Settings::default(), journal)?;
    gateway.announce_to(whole.hub());
    gateway.announce_single_to("up", single.hub());
    let listener = tokio::net::TcpListener::bind(arguments.listen).await.or_fault(&reason::SERVER_BUG)?;
    let address = listener.local_addr().or_fault(&reason::SERVER_BUG)?;
    let _ = writeln!(std::io::stderr(), "listening on http://{address}/mcp/up");
    let pipelines = PipelineSet::from(whole).with("up", single);
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        if let Ok(mut terminated) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        {
            terminated.recv().await;
            stopping.cancel();
        }
    });
    let served = serve_http(pipelines, listener, failwell_rest::http_settings(), stop).await;
    gateway.stop();
    served.map(|_| ())
}
