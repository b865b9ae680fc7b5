//! The life of one upstream, for the operator: its starts and ends, and its last failure.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use failwell_fault::Fault;
use parking_lot::Mutex;

use crate::upstream::connection::close_reason::CloseReason;
use crate::upstream::settings::{Endpoint, UpstreamSettings};

/// How long the report of a start waits for the first list of tools.
const COUNTING: Duration = Duration::from_secs(5);
/// The longest line of a server in a report, in bytes.
const LONGEST_LINE: usize = 300;

/// Receives the events of all upstreams of a gateway.
pub(crate) type ServerObserver = dyn Fn(&ServerEvent) + Send + Sync;

/// Where the events of upstreams go; set once, after the gateway was built.
pub(crate) type ObserverSlot = Arc<OnceLock<Box<ServerObserver>>>;

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServerKind {
    BuiltIn,
    /// A child process.
    #[default]
    Program,
    Http,
}

impl ServerKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ServerKind::BuiltIn => "built-in",
            ServerKind::Program => "program",
            ServerKind::Http => "http",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEvent {
    pub server: Arc<str>,
    pub kind: ServerKind,
    pub change: ServerChange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerChange {
    /// The handshake is complete. `start` counts from 1; `tools` is known once they were listed.
    Started { start: u64, took: Duration, tools: Option<usize> },
    /// A process that was up ended; `None` if the gateway stopped it.
    Ended(Option<ServerFailure>),
}

/// Why a server failed, for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFailure {
    pub at: SystemTime,
    pub reason: &'static str,
    /// The failure in our own words, such as `exit 1`.
    what: String,
    /// Foreign text: the last line of stderr, or the error of the connection.
    last_line: Option<String>,
}

impl ServerFailure {
    pub fn new(fault: &Fault) -> ServerFailure {
        let stderr = fault.operator().captured().iter().find(|captured| captured.label == "stderr");
        let last_line = stderr.and_then(|captured| last_line(&String::from_utf8_lossy(&captured.bytes)));
        let cause = || fault.operator().causes().last().map(|cause| cut(cause));
        let (at, reason) = (SystemTime::now(), fault.reason().id);
        match note(fault, PROGRAM) {
            Some(program) => ServerFailure { at, reason, what: program.to_owned(), last_line: None },
            None => ServerFailure { at, reason, what: what(fault), last_line: last_line.or_else(cause) },
        }
    }

    /// One line, such as `exit 1: API_KEY is required`. Foreign text passes `redact`.
    pub fn text(&self, redact: impl Fn(&str) -> String) -> String {
        match &self.last_line {
            Some(last_line) => format!("{}: {}", self.what, redact(last_line)),
            None => self.what.clone(),
        }
    }
}

/// How the process ended, the status of the answer, or the description of the fault.
fn what(fault: &Fault) -> String {
    match (fault.get("exit_code"), fault.get("signal"), fault.get("status")) {
        (Some(code), ..) => format!("exit {code}"),
        (_, Some(signal), _) => format!("killed by {signal}"),
        (.., Some(status)) => format!("HTTP status {status}"),
        _ => fault.detail(),
    }
}

fn note<'a>(fault: &'a Fault, name: &str) -> Option<&'a str> {
    fault.operator().notes().iter().find(|(known, _)| *known == name).map(|(_, note)| note.as_str())
}

/// The name of the note that says which program could not be started.
pub(crate) const PROGRAM: &str = "program";

/// The last line that says something: Node ends with a stack and its version.
fn last_line(text: &str) -> Option<String> {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let lines: Vec<&str> =
        lines.filter(|line| !line.starts_with("    at ") && !line.starts_with("Node.js v")).collect();
    lines.last().map(|line| cut(line.trim()))
}

fn cut(line: &str) -> String {
    line.get(..line.floor_char_boundary(LONGEST_LINE)).unwrap_or_default().to_owned()
}

#[derive(Default)]
pub(crate) struct UpstreamLifecycle {
    name: Arc<str>,
    kind: ServerKind,
    observer: ObserverSlot,
    state: Mutex<LifeState>,
}

struct LifeState {
    starts: u64,
    /// When it last started, ended or failed.
    since: SystemTime,
    is_up: bool,
    /// Whether its last start or its last life ended with a failure.
    has_failed: bool,
    /// A start that is not reported yet, because the tools are not counted.
    unreported: Option<(u64, Duration)>,
    last_failure: Option<ServerFailure>,
}

impl Default for LifeState {
    fn default() -> LifeState {
        LifeState {
            starts: 0,
            since: SystemTime::now(),
            is_up: false,
            has_failed: false,
            unreported: None,
            last_failure: None,
        }
    }
}

impl std::fmt::Debug for UpstreamLifecycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpstreamLifecycle").field("name", &self.name).finish_non_exhaustive()
    }
}

impl UpstreamLifecycle {
    pub(crate) fn new(settings: &UpstreamSettings, observer: ObserverSlot) -> Arc<UpstreamLifecycle> {
        let kind = match settings.endpoint {
            Endpoint::Child { .. } => ServerKind::Program,
            Endpoint::Http { .. } => ServerKind::Http,
        };
        let name = settings.name.as_str().into();
        Arc::new(UpstreamLifecycle { name, kind, observer, state: Mutex::default() })
    }

    pub(crate) fn kind(&self) -> ServerKind {
        self.kind
    }

    pub(crate) fn starts(&self) -> u64 {
        self.state.lock().starts
    }

    pub(crate) fn since(&self) -> SystemTime {
        self.state.lock().since
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.state.lock().has_failed
    }

    pub(crate) fn last_failure(&self) -> Option<ServerFailure> {
        self.state.lock().last_failure.clone()
    }

    /// The handshake is complete. A process is reported each time, a server over HTTP after a time without
    /// connection: its connections come and go with its callers.
    pub(crate) fn started(self: &Arc<Self>, took: Duration) {
        let mut state = self.state.lock();
        let is_news = self.kind == ServerKind::Program || !state.is_up;
        state.starts += 1;
        (state.is_up, state.has_failed) = (true, false);
        if !is_news {
            return;
        }
        state.since = SystemTime::now();
        state.unreported = Some((state.starts, took));
        drop(state);
        let life = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(COUNTING).await;
            life.report_start(None);
        });
    }

    /// Its tools were listed.
    pub(crate) fn counted(&self, tools: usize) {
        self.report_start(Some(tools));
    }

    fn report_start(&self, tools: Option<usize>) {
        let unreported = self.state.lock().unreported.take();
        if let Some((start, took)) = unreported {
            self.report(ServerChange::Started { start, took, tools });
        }
    }

    /// It could not be started.
    pub(crate) fn failed(&self, fault: &Fault) {
        let mut state = self.state.lock();
        (state.is_up, state.has_failed, state.since) = (false, true, SystemTime::now());
        state.last_failure = Some(ServerFailure::new(fault));
    }

    /// A process or connection that was up has ended.
    pub(crate) fn ended(&self, why: &CloseReason) {
        self.report_start(None);
        let failure = match why {
            CloseReason::Stopped => None,
            CloseReason::Ended { .. } | CloseReason::Lost | CloseReason::Silent(_) => {
                Some(ServerFailure::new(&why.fault()))
            }
        };
        let mut state = self.state.lock();
        (state.is_up, state.has_failed, state.since) = (false, failure.is_some(), SystemTime::now());
        if failure.is_some() {
            state.last_failure = failure.clone();
        }
        drop(state);
        self.report(ServerChange::Ended(failure));
    }

    fn report(&self, change: ServerChange) {
        if let Some(observe) = self.observer.get() {
            observe(&ServerEvent { server: self.name.clone(), kind: self.kind, change });
        }
    }
}

#[cfg(test)]
mod tests {
    use failwell_fault::{Fault, reason};

    use super::{PROGRAM, ServerFailure};
    use crate::upstream::connection::close_reason::CloseReason;

    fn ended(code: Option<i32>, signal: Option<&str>, stderr: &str) -> String {
        let (signal, stderr) = (signal.map(str::to_owned), stderr.to_owned());
        let fault = CloseReason::Ended { code, signal, stderr }.fault();
        ServerFailure::new(&fault).text(|text| text.replace("SECRET", "[redacted]"))
    }

    #[test]
    fn a_failure_is_one_line_that_names_the_cause() {
        for (code, signal, stderr, text) in [
            (Some(1), None, "starting\nBRAVE_API_KEY is required\n\n", "exit 1: BRAVE_API_KEY is required"),
            (Some(1), None, "", "exit 1"),
            (None, Some("SIGKILL"), "", "killed by SIGKILL"),
            (
                Some(2),
                None,
                "Error: no SECRET\n    at main.js:1:2\n\nNode.js v20.20.2\n",
                "exit 2: Error: no [redacted]",
            ),
        ] {
            assert_eq!(ended(code, signal, stderr), text);
        }
        let missing = Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).note(PROGRAM, "`npxx` was not found");
        assert_eq!(ServerFailure::new(&missing).text(str::to_owned), "`npxx` was not found");
        let refused = Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).fact("status", 401u64);
        assert_eq!(ServerFailure::new(&refused).text(str::to_owned), "HTTP status 401");
        let long = ended(Some(1), None, &"é".repeat(1_000));
        assert!(long.len() <= 310, "{}", long.len());
    }
}
