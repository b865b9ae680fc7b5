//! A guard as a child process. It reads requests and writes verdicts, one line of JSON each.

mod lines;
mod pending;
mod restarts;
mod runner;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, Secret};
use failwell_policy::guard::Direction;
use failwell_policy::guard::custom::{CustomGuard, CustomRule, CustomVerdict, GuardRequest, VerdictFuture};
use failwell_process::Launcher;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::runner::ProcessRunner;
use crate::failure::{busy, no_verdict};

/// How long a child may take for its first verdict, unless its timeout is longer: a start takes longer than a verdict.
const START_LIMIT: Duration = Duration::from_secs(10);
/// Capacity of the request queue.
const MOST_WAITING: usize = 256;

#[derive(Debug, Clone)]
pub struct ChildSettings {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// The working folder.
    pub folder: PathBuf,
    /// Additional environment variables.
    pub environment: Vec<(String, Secret<String>)>,
    /// Variables of this process that are passed on unchanged.
    pub inherited: Vec<String>,
    /// Maximum address space, in bytes.
    pub memory: Option<u64>,
    /// Maximum number of restarts within the window.
    pub budget: u32,
    pub window: Duration,
}

impl PartialEq for ChildSettings {
    fn eq(&self, other: &ChildSettings) -> bool {
        let open = |settings: &ChildSettings| -> Vec<(String, String)> {
            settings.environment.iter().map(|(name, value)| (name.clone(), value.expose().clone())).collect()
        };
        let plain = |settings: &ChildSettings| {
            let ChildSettings { program, arguments, folder, inherited, memory, budget, window, .. } =
                settings.clone();
            (program, arguments, folder, inherited, memory, budget, window)
        };
        plain(self) == plain(other) && open(self) == open(other)
    }
}

/// A child that is restarted when it ends. Dropping the handle ends it and all of its descendants.
#[derive(Debug)]
pub struct GuardProcess {
    questions: mpsc::Sender<QueuedRequest>,
    _stop: DropGuard,
}

/// A queued request and the channel for its verdict.
pub(crate) struct QueuedRequest {
    pub(crate) line: Box<dyn FnOnce(u64) -> String + Send>,
    pub(crate) deadline: Instant,
    pub(crate) verdict: oneshot::Sender<Result<CustomVerdict, Fault>>,
}

impl GuardProcess {
    /// Starts the child and its runner. Requires a Tokio runtime.
    pub fn start(settings: ChildSettings, launcher: Launcher) -> GuardProcess {
        let (questions, asked) = mpsc::channel(MOST_WAITING);
        let stop = CancellationToken::new();
        tokio::spawn(ProcessRunner::new(settings, launcher, stop.clone()).run(asked));
        GuardProcess { questions, _stop: stop.drop_guard() }
    }

    /// Waits until the child has given a verdict on an empty request. A program that cannot be started, or that
    /// does not answer, fails here instead of at the first message.
    pub async fn ready(&self, rule: &CustomRule) -> Result<(), Fault> {
        let question = GuardRequest {
            guard: &rule.name,
            direction: rule.directions.first().copied().unwrap_or(Direction::Request),
            server: "",
            tool: "",
            method: "ping",
            caller: "",
            message: "{}",
            deadline: Instant::now() + rule.timeout.max(START_LIMIT),
        };
        self.ask(question).await.map(drop)
    }

    async fn ask(&self, question: GuardRequest<'_>) -> Result<CustomVerdict, Fault> {
        let (verdict, answer) = oneshot::channel();
        // The runner assigns the id when it sends the request, so the line is completed only then.
        let rest: Arc<str> = question.to_line(0).into();
        let line = move |id: u64| match rest.strip_prefix(r#"{"id":0"#) {
            Some(rest) => format!(r#"{{"id":{id}{rest}"#),
            None => rest.to_string(),
        };
        let asked = QueuedRequest { line: Box::new(line), deadline: question.deadline, verdict };
        self.questions.try_send(asked).map_err(|_| busy())?;
        match tokio::time::timeout_at(question.deadline.into(), answer).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(_)) => Err(no_verdict("it is not running")),
            Err(_) => Err(no_verdict("it did not answer in time")),
        }
    }
}

impl CustomGuard for GuardProcess {
    fn judge<'a>(&'a self, question: GuardRequest<'a>) -> VerdictFuture<'a> {
        Box::pin(self.ask(question))
    }
}
