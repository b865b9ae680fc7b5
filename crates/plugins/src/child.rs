//! A guard as a child that reads questions and writes verdicts, one line of JSON each.

mod keeper;
mod lines;
mod open;
mod starts;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, Secret};
use failwell_policy::guard::custom::{Judge, Judging, Opinion, Question};
use failwell_process::Launcher;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::keeper::Keeper;
use crate::failure::{busy, no_verdict};

/// Questions that wait to be handed over at the most.
const MOST_WAITING: usize = 256;

/// How a child is run.
#[derive(Debug, Clone)]
pub struct ChildSettings {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// Its variables.
    pub environment: Vec<(String, Secret<String>)>,
    /// Variables of ours it gets as they are.
    pub inherited: Vec<String>,
    /// Bytes of address space it may have.
    pub memory: Option<u64>,
    /// How many starts are allowed within the window.
    pub budget: u32,
    /// The length of the window.
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

/// A child that is kept running. Dropped, it goes, and everything it started with it.
#[derive(Debug)]
pub struct Kept {
    questions: mpsc::Sender<Asked>,
    _stop: DropGuard,
}

/// A question on its way, and where its verdict goes.
pub(crate) struct Asked {
    pub(crate) line: Box<dyn FnOnce(u64) -> String + Send>,
    pub(crate) deadline: Instant,
    pub(crate) verdict: oneshot::Sender<Result<Opinion, Fault>>,
}

impl Kept {
    /// Starts the child, and keeps it running. Has to be called within a runtime.
    pub fn start(settings: ChildSettings, launcher: Launcher) -> Kept {
        let (questions, asked) = mpsc::channel(MOST_WAITING);
        let stop = CancellationToken::new();
        tokio::spawn(Keeper::new(settings, launcher, stop.clone()).run(asked));
        Kept { questions, _stop: stop.drop_guard() }
    }

    async fn ask(&self, question: Question<'_>) -> Result<Opinion, Fault> {
        let (verdict, answer) = oneshot::channel();
        // The number is known when it is its turn; only that is left to be put in front.
        let rest: Arc<str> = question.line(0).into();
        let line = move |id: u64| match rest.strip_prefix(r#"{"id":0"#) {
            Some(rest) => format!(r#"{{"id":{id}{rest}"#),
            None => rest.to_string(),
        };
        let asked = Asked { line: Box::new(line), deadline: question.deadline, verdict };
        self.questions.try_send(asked).map_err(|_| busy())?;
        match tokio::time::timeout_at(question.deadline.into(), answer).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(_)) => Err(no_verdict("it is not running")),
            Err(_) => Err(no_verdict("it did not answer in time")),
        }
    }
}

impl Judge for Kept {
    fn judge<'a>(&'a self, question: Question<'a>) -> Judging<'a> {
        Box::pin(self.ask(question))
    }
}
