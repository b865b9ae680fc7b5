//! Serves a toolbox: the `main` of a tool server.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, ReasonRegistry, reason};
use failwell_journal::Journal;
use failwell_pipeline::{Controls, Pipeline, PipelineSettings, Recorder, keep_panics_quiet};
use failwell_toolbox::{ToolServer, Toolbox};
use failwell_transport::{HttpSettings, StdioSettings, serve_http, serve_stdio, standard, stop_on_signal};
use tokio::net::TcpListener;

use crate::command_line::{Command, USAGE, parse};

/// How long blocked reads of standard input may delay the end.
const SHUTDOWN: Duration = Duration::from_millis(100);

/// Serves a toolbox as the command line asks: over stdio, or over HTTP with `--listen`. Ends after Ctrl-C, SIGTERM or the end
/// of input, when every accepted request is answered.
///
/// `toolbox` is called within the runtime, so it may open connections and start tasks. If two of its tools have one name, the
/// server does not start: it names the tool on standard error and exits with 1.
pub fn run(toolbox: impl FnOnce() -> Result<Toolbox, Fault>) -> ExitCode {
    keep_panics_quiet();
    let command = match parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(text) => return complain(&text, 2),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(&format!("error: the runtime does not start: {error}"), 1),
    };
    let ended = runtime.block_on(async { perform(command, toolbox()?).await });
    runtime.shutdown_timeout(SHUTDOWN);
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => complain(&format!("error: {}\nhelp: {}", fault.operator(), fault.hint()), 1),
    }
}

async fn perform(command: Command, toolbox: Toolbox) -> Result<(), Fault> {
    match command {
        Command::Stdio => {
            let pipeline = pipeline(toolbox)?;
            if std::io::stdin().is_terminal() {
                note("waiting for an MCP client on standard input; see --help for other ways to serve");
            }
            let (input, output) = standard();
            let stop = stop_on_signal();
            let served = serve_stdio(pipeline.clone(), input, output, StdioSettings::default(), stop).await;
            pipeline.journal().flush();
            served.map(|_| ())
        }
        Command::Listen(address) => listen(pipeline(toolbox)?, address).await,
        Command::Help => print(USAGE),
        Command::Version => {
            let info = toolbox.info();
            print(&format!("{} {}\n", info.name, info.version))
        }
        Command::Explain(reason) => print(&explain(&registry(&toolbox)?, reason.as_deref())),
    }
}

/// The pipeline of a server that stands alone: every stage, without policy and ledger.
pub(crate) fn pipeline(toolbox: Toolbox) -> Result<Arc<Pipeline>, Fault> {
    let recorder = Recorder::from(Journal::to_stderr()).with_reasons(registry(&toolbox)?);
    Pipeline::new(Arc::new(toolbox), PipelineSettings::default(), Controls::default(), recorder)
}

fn registry(toolbox: &Toolbox) -> Result<ReasonRegistry, Fault> {
    ReasonRegistry::core().with(toolbox.own_reasons()).or_fault(&reason::SERVER_BUG)
}

async fn listen(pipeline: Arc<Pipeline>, address: SocketAddr) -> Result<(), Fault> {
    let listener = TcpListener::bind(address).await.or_fault(&reason::CONFIG_INVALID)?;
    if let Ok(address) = listener.local_addr() {
        note(&format!("{} is up on http://{address}/mcp", pipeline.server().info().title));
    }
    let served = serve_http(pipeline.clone(), listener, HttpSettings::default(), stop_on_signal()).await;
    pipeline.journal().flush();
    served.map(|_| ())
}

/// One reason in full, or all of them with their titles.
fn explain(reasons: &ReasonRegistry, wanted: Option<&str>) -> String {
    match wanted.map(|id| (id, reasons.find(id))) {
        None => reasons.iter().map(|reason| format!("{}  {}\n", reason.id, reason.title)).collect(),
        Some((_, Some(reason))) => format!(
            "{}  {}\n\n  {}\n\n  help: {}\n  kind: {}\n",
            reason.id,
            reason.title,
            reason.about,
            reason.hint,
            reason.kind.as_str()
        ),
        Some((id, None)) => format!("there is no reason {id}; --explain lists all\n"),
    }
}

fn print(text: &str) -> Result<(), Fault> {
    std::io::stdout().write_all(text.as_bytes()).or_fault(&reason::SERVER_BUG)
}

fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn complain(text: &str, code: u8) -> ExitCode {
    note(text.trim_end());
    ExitCode::from(code)
}
