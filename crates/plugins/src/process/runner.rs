//! Keeps one child running and sends requests to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, reason};
use failwell_process::{
    Caps, Child, ChildExit, Environment, Exit, Input, InputWriter, Launcher, Limits, OutputReader, Plan,
    Stdout,
};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::lines::{self, OutputLine};
use super::pending::{OutputHealth, PendingRequests};
use super::restarts::{RestartBudget, RestartDecision};
use super::{ChildSettings, QueuedRequest};
use crate::LONGEST_VERDICT;
use crate::failure::no_verdict;

/// The grace period of a child.
const GRACE: Duration = Duration::from_secs(1);
/// The stored amount of standard error.
const OUTPUT_CAPS: Caps = Caps { head: 2 * 1024, tail: 6 * 1024 };
/// Interval of removing abandoned requests while the child is idle.
const TIDY: Duration = Duration::from_millis(250);

/// The task that runs a child.
pub(super) struct ProcessRunner {
    settings: ChildSettings,
    launcher: Launcher,
    stop: CancellationToken,
    open: Arc<PendingRequests>,
    starts: RestartBudget,
}

/// The cause of a child's end.
enum ExitCause {
    /// The runner was stopped.
    Stopped,
    /// The child ended or was ended.
    Ended { why: &'static str, ended: Box<ChildExit> },
    /// The child could not be started.
    Unstarted(Box<Fault>),
}

impl ProcessRunner {
    pub(super) fn new(settings: ChildSettings, launcher: Launcher, stop: CancellationToken) -> ProcessRunner {
        let starts = RestartBudget::new(settings.budget, settings.window);
        ProcessRunner { settings, launcher, stop, open: Arc::default(), starts }
    }

    /// Runs until the handle is dropped.
    pub(super) async fn run(mut self, mut questions: mpsc::Receiver<QueuedRequest>) {
        let mut last = no_verdict("it is not running");
        let mut unstarted = false;
        loop {
            match self.starts.next(Instant::now()) {
                // Nothing suggests that the next start succeeds, so requests do not wait for it.
                RestartDecision::Start(wait) if unstarted => {
                    let why = "it cannot be started";
                    if self.refuse_for(wait, &mut questions, &last, why).await.is_err() {
                        return;
                    }
                }
                RestartDecision::Start(wait) => {
                    if self.is_stopped_within(wait).await {
                        return;
                    }
                }
                // Requests fail at once while the budget is exhausted.
                RestartDecision::Rest(rest) => {
                    let why = if unstarted { "it cannot be started" } else { "it ended too often" };
                    if self.refuse_for(rest, &mut questions, &last, why).await.is_err() {
                        return;
                    }
                    continue;
                }
            }
            self.starts.note(Instant::now());
            unstarted = false;
            match self.life(&mut questions).await {
                ExitCause::Stopped => return,
                ExitCause::Ended { why, ended } => {
                    self.open.fail(|| exit_fault(why, &ended));
                    last = exit_fault(why, &ended);
                }
                ExitCause::Unstarted(fault) => {
                    unstarted = true;
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

    /// Fails every request at once until the budget allows a restart. Each fault has the last child's
    /// standard error as a private capture.
    async fn refuse_for(
        &self,
        rest: Duration,
        questions: &mut mpsc::Receiver<QueuedRequest>,
        last: &Fault,
        why: &'static str,
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
                    let fault = no_verdict(why).note("before", causes.clone());
                    let _ = asked.verdict.send(Err(fault.capture("stderr", notes.join("\n"))));
                }
            }
        }
    }

    /// Runs one child from its start to its end.
    async fn life(&self, questions: &mut mpsc::Receiver<QueuedRequest>) -> ExitCause {
        let started = tokio::select! {
            () = self.stop.cancelled() => return ExitCause::Stopped,
            started = self.start() => started,
        };
        let (mut child, input, output) = match started {
            Ok(started) => started,
            Err(fault) => return ExitCause::Unstarted(Box::new(fault)),
        };
        let mut reader = tokio::spawn(read(self.open.clone(), output));
        let why = tokio::select! {
            () = self.stop.cancelled() => {
                child.stop(GRACE).await;
                return ExitCause::Stopped;
            }
            ended = child.wait() => {
                // Verdicts that it wrote before its end still count.
                let _ = tokio::time::timeout(GRACE, &mut reader).await;
                reader.abort();
                return ExitCause::Ended { why: "it crashed", ended: Box::new(ended) };
            }
            why = &mut reader => why.unwrap_or("it crashed"),
            why = self.carry(input, questions) => why,
        };
        reader.abort();
        if self.stop.is_cancelled() {
            child.stop(GRACE).await;
            return ExitCause::Stopped;
        }
        ExitCause::Ended { why, ended: Box::new(child.stop(GRACE).await) }
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
        plan.output = OUTPUT_CAPS;
        plan.grace = GRACE;
        plan
    }

    /// Sends requests until the child accepts no more, and returns the reason.
    async fn carry(
        &self,
        mut input: InputWriter,
        questions: &mut mpsc::Receiver<QueuedRequest>,
    ) -> &'static str {
        let mut next: Option<QueuedRequest> = None;
        loop {
            self.open.tidy();
            if self.open.is_ignored() {
                return "it stopped answering";
            }
            let asked = match next.take() {
                Some(asked) => asked,
                None => match tokio::time::timeout(TIDY, questions.recv()).await {
                    Ok(Some(asked)) => asked,
                    // The queue is closed: the handle was dropped.
                    Ok(None) => return "it is not running",
                    Err(_) => continue,
                },
            };
            let QueuedRequest { line, deadline, verdict } = asked;
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
                        // The child has received half a line, so the stream is no longer usable.
                        Err(_) => return "it does not read its questions",
                    }
                }
                Err(verdict) => {
                    next = Some(QueuedRequest { line, deadline, verdict });
                    let _ = tokio::time::timeout(TIDY, self.open.freed.notified()).await;
                }
            }
        }
    }
}

/// Reads verdicts until the output ends or becomes invalid, and returns the reason.
async fn read(open: Arc<PendingRequests>, output: OutputReader) -> &'static str {
    let mut output = BufReader::new(output);
    loop {
        match lines::next(&mut output, LONGEST_VERDICT).await {
            Ok(Some(OutputLine::Whole(line))) => {
                if open.hear(&line) == OutputHealth::Flooding {
                    return "it writes lines that are no verdict";
                }
            }
            Ok(Some(OutputLine::TooLong)) => return "its verdict is too long",
            Ok(None) | Err(_) => return "it crashed",
        }
    }
}

/// The fault for an ended child, with its standard error as a private capture.
fn exit_fault(why: &'static str, ended: &ChildExit) -> Fault {
    let how = match &ended.exit {
        Some(Exit::Code(code)) => format!("exit code {code}"),
        Some(Exit::Signal(signal)) => format!("signal {}", signal.name()),
        None => "exit status unknown".to_owned(),
    };
    no_verdict(why).note("ended", how).capture("stderr", ended.output.stderr.to_bytes())
}
