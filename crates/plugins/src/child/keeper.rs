//! Keeps one child running, and carries questions to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, reason};
use failwell_process::{
    Caps, Child, Ended, Environment, Exit, Input, InputWriter, Launcher, Limits, OutputReader, Plan, Stdout,
};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::lines::{self, Line};
use super::open::{Open, Sense};
use super::starts::{Next, Starts};
use super::{Asked, ChildSettings};
use crate::LONGEST_VERDICT;
use crate::failure::no_verdict;

/// How long a child has to end when it is asked to.
const GRACE: Duration = Duration::from_secs(1);
/// How much of what it says on standard error is kept.
const SAID: Caps = Caps { head: 2 * 1024, tail: 6 * 1024 };
/// How often questions nobody waits for are forgotten while nothing else happens.
const TIDY: Duration = Duration::from_millis(250);

/// What keeps a child.
pub(super) struct Keeper {
    settings: ChildSettings,
    launcher: Launcher,
    stop: CancellationToken,
    open: Arc<Open>,
    starts: Starts,
}

/// Why a child is no more.
enum Gone {
    /// We want no other.
    Stopped,
    /// It ended, or had to.
    Ended { why: &'static str, ended: Box<Ended> },
    /// It never began.
    Unstarted(Box<Fault>),
}

impl Keeper {
    pub(super) fn new(settings: ChildSettings, launcher: Launcher, stop: CancellationToken) -> Keeper {
        let starts = Starts::new(settings.budget, settings.window);
        Keeper { settings, launcher, stop, open: Arc::default(), starts }
    }

    /// Until nobody wants it any more.
    pub(super) async fn run(mut self, mut questions: mpsc::Receiver<Asked>) {
        let mut last = no_verdict("it is not running");
        loop {
            match self.starts.next(Instant::now()) {
                Next::Start(wait) => {
                    if self.is_stopped_within(wait).await {
                        return;
                    }
                }
                // Whoever asks meanwhile need not wait to hear of it.
                Next::Rest(rest) => {
                    if self.refuse_for(rest, &mut questions, &last).await.is_err() {
                        return;
                    }
                    continue;
                }
            }
            self.starts.note(Instant::now());
            match self.life(&mut questions).await {
                Gone::Stopped => return,
                Gone::Ended { why, ended } => {
                    self.open.fail(|| told(why, &ended));
                    last = told(why, &ended);
                }
                Gone::Unstarted(fault) => {
                    self.open.fail(|| no_verdict("it cannot be started"));
                    last = no_verdict("it cannot be started").absorbing(*fault);
                }
            }
        }
    }

    async fn is_stopped_within(&self, wait: Duration) -> bool {
        tokio::select! {
            () = self.stop.cancelled() => true,
            () = tokio::time::sleep(wait) => false,
        }
    }

    /// The budget is used up: every question fails at once. The first hears what the child said at its end.
    async fn refuse_for(
        &self,
        rest: Duration,
        questions: &mut mpsc::Receiver<Asked>,
        last: &Fault,
    ) -> Result<(), ()> {
        let over = tokio::time::sleep(rest);
        tokio::pin!(over);
        let notes: Vec<String> = last
            .operator()
            .captured()
            .iter()
            .map(|c| String::from_utf8_lossy(&c.bytes).into_owned())
            .collect();
        let causes = last.operator().causes().join(": ");
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return Err(()),
                () = &mut over => return Ok(()),
                asked = questions.recv() => {
                    let Some(asked) = asked else { return Err(()) };
                    let fault = no_verdict("it ended too often").note("before", causes.clone());
                    let _ = asked.verdict.send(Err(fault.capture("stderr", notes.join("\n"))));
                }
            }
        }
    }

    /// One child, from its start to its end.
    async fn life(&self, questions: &mut mpsc::Receiver<Asked>) -> Gone {
        let started = tokio::select! {
            () = self.stop.cancelled() => return Gone::Stopped,
            started = self.start() => started,
        };
        let (mut child, input, output) = match started {
            Ok(started) => started,
            Err(fault) => return Gone::Unstarted(Box::new(fault)),
        };
        let mut reader = tokio::spawn(read(self.open.clone(), output));
        let why = tokio::select! {
            () = self.stop.cancelled() => {
                child.stop(GRACE).await;
                return Gone::Stopped;
            }
            ended = child.wait() => {
                // What it answered before its end counts.
                let _ = tokio::time::timeout(GRACE, &mut reader).await;
                reader.abort();
                return Gone::Ended { why: "it crashed", ended: Box::new(ended) };
            }
            why = &mut reader => why.unwrap_or("it crashed"),
            why = self.carry(input, questions) => why,
        };
        reader.abort();
        if self.stop.is_cancelled() {
            child.stop(GRACE).await;
            return Gone::Stopped;
        }
        Gone::Ended { why, ended: Box::new(child.stop(GRACE).await) }
    }

    async fn start(&self) -> Result<(Child, InputWriter, OutputReader), Fault> {
        let mut child = self.launcher.start(self.plan()).await?;
        let input = child.take_input().or_fault(&reason::SERVER_BUG)?;
        let output = child.take_output().or_fault(&reason::SERVER_BUG)?;
        Ok((child, input, output))
    }

    fn plan(&self) -> Plan {
        let settings = &self.settings;
        let names: Vec<&str> = settings.inherited.iter().map(String::as_str).collect();
        let given = settings.environment.iter();
        let mut plan = Plan::new(&settings.program, &settings.folder).arguments(settings.arguments.iter());
        plan.environment =
            given.fold(Environment::inherit(&names), |all, (name, value)| all.with(name, value.expose()));
        plan.input = Input::Pipe;
        plan.stdout = Stdout::Piped;
        plan.limits = Limits { memory: settings.memory, ..Limits::default() };
        plan.output = SAID;
        plan.grace = GRACE;
        plan
    }

    /// Hands questions over until the child takes no more of them. Says why.
    async fn carry(&self, mut input: InputWriter, questions: &mut mpsc::Receiver<Asked>) -> &'static str {
        let mut next: Option<Asked> = None;
        loop {
            self.open.tidy();
            if self.open.is_ignored() {
                return "it stopped answering";
            }
            let asked = match next.take() {
                Some(asked) => asked,
                None => match tokio::time::timeout(TIDY, questions.recv()).await {
                    Ok(Some(asked)) => asked,
                    // Nobody can ask any more: we are about to be stopped.
                    Ok(None) => return "it is not running",
                    Err(_) => continue,
                },
            };
            let Asked { line, deadline, verdict } = asked;
            if verdict.is_closed() {
                continue;
            }
            match self.open.begin(verdict) {
                Ok(id) => {
                    let line = line(id) + "\n";
                    let written =
                        tokio::time::timeout_at(deadline.into(), input.write_all(line.as_bytes())).await;
                    match written {
                        Ok(Ok(())) => {}
                        Ok(Err(_)) => return "it crashed",
                        // Half a line is there: whoever reads on would read nonsense.
                        Err(_) => return "it does not read its questions",
                    }
                }
                Err(verdict) => {
                    next = Some(Asked { line, deadline, verdict });
                    let _ = tokio::time::timeout(TIDY, self.open.freed.notified()).await;
                }
            }
        }
    }
}

/// Hears what a child says, until it says no more. Says why.
async fn read(open: Arc<Open>, output: OutputReader) -> &'static str {
    let mut output = BufReader::new(output);
    loop {
        match lines::next(&mut output, LONGEST_VERDICT).await {
            Ok(Some(Line::Whole(line))) => {
                if open.hear(&line) == Sense::Babbles {
                    return "it writes what is no verdict";
                }
            }
            Ok(Some(Line::TooLong)) => return "its verdict is too long",
            Ok(None) | Err(_) => return "it crashed",
        }
    }
}

/// How a child went, with what it said on standard error for the operator.
fn told(why: &'static str, ended: &Ended) -> Fault {
    let how = match &ended.exit {
        Some(Exit::Code(code)) => format!("exit code {code}"),
        Some(Exit::Signal(signal)) => format!("signal {}", signal.name()),
        None => "nobody knows how".to_owned(),
    };
    no_verdict(why).note("ended", how).capture("stderr", ended.output.stderr.kept())
}
