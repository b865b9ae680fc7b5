//! One run from start to end: reads events, watches the clock, and ends all processes.

pub(crate) mod bootstrap;
pub(crate) mod classify;
pub(crate) mod environment;
pub(crate) mod event;
pub(crate) mod folder;
pub(crate) mod pipe;
pub(crate) mod plan;
pub(crate) mod sandbox;
pub(crate) mod warm;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_process::{
    Caps, Child, ChildExit, Environment, EventReader, Exit, ExitCause, Launcher, Limits, Plan, Sandbox,
    Signal,
};
use failwell_sdk::Context;
use serde_json::Value;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::interpreter::Interpreter;
use crate::project::Project;
use crate::report::Report;
use crate::report::scrubber::Scrubber;
use crate::run::classify::ProcessEnd;
use crate::run::event::LineSplitter;
use crate::run::warm::Fork;

/// The variable with the descriptor of the event pipe.
pub(crate) const EVENTS: &str = "FAILWELL_EVENTS";
/// The stored amount of each output. The log of the run has all of it.
pub(crate) const KEPT: Caps = Caps { head: 1024 * 1024, tail: 7 * 1024 * 1024 };
/// Interval of checking the clock.
const TICK: Duration = Duration::from_millis(100);
/// Minimum interval of progress notifications.
const TELLING: Duration = Duration::from_millis(200);
/// Maximum time that an interpreter may live after pytest returned.
const LINGER: Duration = Duration::from_secs(5);
/// Maximum time that a test may exceed its own limit before the whole run is ended.
const STUCK: Duration = Duration::from_secs(3);
/// The signals to a run beyond its limit, each with its delay: dump the stack, interrupt, terminate.
const LADDER: [(Duration, Signal); 3] = [
    (Duration::ZERO, Signal::USR2),
    (Duration::from_millis(300), Signal::INT),
    (Duration::from_millis(1_800), Signal::TERM),
];
/// The delay of the kill after the limit.
const KILL: Duration = Duration::from_millis(2_800);
/// Maximum size of a file that a test writes, in bytes.
const LARGEST_FILE: u64 = 4 * 1024 * 1024 * 1024;
/// Maximum number of processes at the same time.
const MOST_PROCESSES: u64 = 1_000;

/// The description of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunRequest {
    pub(crate) project: Project,
    pub(crate) interpreter: Interpreter,
    /// The arguments of pytest.
    pub(crate) arguments: Vec<String>,
    /// The settings of the bootstrap program.
    pub(crate) settings: Value,
    pub(crate) environment: Environment,
    /// The path of the bootstrap program.
    pub(crate) inside: PathBuf,
    pub(crate) sandbox: Sandbox,
    pub(crate) limit: Duration,
    pub(crate) per_test: Option<Duration>,
}

impl RunRequest {
    /// The plan of the bootstrap program, without the arguments of the verb.
    pub(crate) fn plan(&self, verb: &str) -> Plan {
        let mut plan = Plan::new(&self.interpreter.path, self.project.root()).arguments([
            OsStr::new("-c"),
            OsStr::new(bootstrap::START),
            self.inside.as_os_str(),
            OsStr::new(verb),
        ]);
        plan.environment = self.environment.clone();
        plan.sandbox = self.sandbox.clone();
        plan
    }
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    pub(crate) report: Report,
    pub(crate) end: ProcessEnd,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    /// The exceeded limit (of the run or of one test), otherwise the limit of the run.
    pub(crate) limit: Duration,
    pub(crate) mode: &'static str,
    /// Whether the overseer process of the run was lost.
    pub(crate) lost: bool,
}

/// A run in progress, in a new process or in a fork of a warm worker.
pub(crate) enum ActiveRun {
    Cold(Child),
    Warm(Fork),
}

impl ActiveRun {
    /// Starts a new process.
    pub(crate) async fn cold(
        launcher: &Launcher,
        request: &RunRequest,
    ) -> Result<(ActiveRun, EventReader), Fault> {
        let mut plan =
            request.plan("run").arguments([request.settings.to_string()]).arguments(&request.arguments);
        plan.events = Some(EVENTS.into());
        plan.output = KEPT;
        plan.limits = limits(request.limit);
        let mut child = launcher.start(plan).await?;
        let events = child.take_events();
        let events = events
            .ok_or_else(|| Fault::new(&failwell_fault::reason::SERVER_BUG).note("events", "no pipe"))?;
        Ok((ActiveRun::Cold(child), events))
    }

    async fn signal(&self, signal: Signal) {
        match self {
            // An ended process accepts no signals. Its exit is returned as usual.
            ActiveRun::Cold(child) => drop(child.signal(signal).await),
            ActiveRun::Warm(fork) => fork.signal(signal).await,
        }
    }

    async fn wait(&mut self) -> ChildExit {
        match self {
            ActiveRun::Cold(child) => child.wait().await,
            ActiveRun::Warm(fork) => fork.wait().await,
        }
    }

    async fn kill(&mut self) -> ChildExit {
        match self {
            ActiveRun::Cold(child) => child.stop(Duration::ZERO).await,
            ActiveRun::Warm(fork) => fork.kill().await,
        }
    }

    fn mode(&self) -> &'static str {
        match self {
            ActiveRun::Cold(_) => "cold",
            ActiveRun::Warm(_) => "warm",
        }
    }
}

/// The limits of a run. The supervisor's wall-clock limit applies only if our own watch fails.
pub(crate) fn limits(limit: Duration) -> Limits {
    Limits {
        wall: Some(limit + KILL + LINGER),
        file_size: Some(LARGEST_FILE),
        processes: Some(MOST_PROCESSES),
        ..Limits::default()
    }
}

/// Watches a run to its end. Dropping the future ends the run and all of its descendants.
pub(crate) async fn watch(
    mut running: ActiveRun,
    events: EventReader,
    request: &RunRequest,
    scrubber: &Scrubber,
    cx: &Context,
) -> RunOutcome {
    let mut watch = RunWatch::new(request, scrubber, cx);
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut events = pipe::batches(events);
    let mut open = true;
    let ended = loop {
        tokio::select! {
            batch = events.recv(), if open => match batch {
                Some(bytes) => watch.hear(&bytes).await,
                None => open = false,
            },
            ended = running.wait() => break ended,
            _ = ticks.tick() => match watch.tick().await {
                WatchStep::Continue => {}
                WatchStep::Send(signal) => running.signal(signal).await,
                WatchStep::Kill => break running.kill().await,
            },
        }
    };
    // No process holds the pipe any more, so the remaining events arrive at once.
    while open {
        match timeout(TICK * 5, events.recv()).await {
            Ok(Some(bytes)) => watch.hear(&bytes).await,
            _ => open = false,
        }
    }
    watch.finish(&ended, running.mode())
}

enum WatchStep {
    Continue,
    Send(Signal),
    Kill,
}

struct RunWatch<'a> {
    request: &'a RunRequest,
    scrubber: &'a Scrubber,
    cx: &'a Context,
    report: Report,
    lines: LineSplitter,
    began: Instant,
    last_progress: Instant,
    ticks: u32,
    /// The start of the running test, with the number of tests started by then.
    current: (u64, Instant),
    returned: Option<Instant>,
    over: Option<(Instant, Duration)>,
    rung: usize,
    lingered: bool,
}

impl<'a> RunWatch<'a> {
    fn new(request: &'a RunRequest, scrubber: &'a Scrubber, cx: &'a Context) -> RunWatch<'a> {
        let now = Instant::now();
        RunWatch {
            request,
            scrubber,
            cx,
            report: Report::default(),
            lines: LineSplitter::default(),
            began: now,
            last_progress: now,
            ticks: 0,
            current: (0, now),
            returned: None,
            over: None,
            rung: 0,
            lingered: false,
        }
    }

    async fn hear(&mut self, bytes: &[u8]) {
        for line in self.lines.take(bytes) {
            self.report.take_line(&line, self.scrubber, &self.request.project);
        }
        if self.report.exit.is_some() && self.returned.is_none() {
            self.returned = Some(Instant::now());
        }
        if self.last_progress.elapsed() >= TELLING {
            self.report_progress().await;
        }
    }

    /// Progress must increase, so a long test adds a small part to it.
    async fn report_progress(&mut self) {
        let done = self.report.tests.len();
        self.last_progress = Instant::now();
        let part = f64::from(self.ticks.min(900)) / 1_000.0;
        let message = format!(
            "{}; {:.1} s",
            self.report.running().unwrap_or(if self.report.collected.is_some() {
                "between tests"
            } else {
                "collecting"
            }),
            self.began.elapsed().as_secs_f64()
        );
        let total = self.report.collected.map(|total| total as f64);
        self.cx.progress(done as f64 + part, total, Some(&message)).await;
    }

    async fn tick(&mut self) -> WatchStep {
        let now = Instant::now();
        if self.report.started() != self.current.0 {
            self.current = (self.report.started(), now);
            self.ticks = 0;
        }
        self.ticks += 1;
        if now.duration_since(self.last_progress) >= TELLING * 5 {
            self.report_progress().await;
        }
        if self.returned.is_some_and(|returned| now.duration_since(returned) >= LINGER) {
            self.lingered = true;
            return WatchStep::Kill;
        }
        if self.returned.is_some() {
            return WatchStep::Continue;
        }
        let stuck = self.request.per_test.filter(|limit| {
            self.report.running().is_some() && now.duration_since(self.current.1) >= *limit + STUCK
        });
        let late = (now.duration_since(self.began) >= self.request.limit).then_some(self.request.limit);
        if self.over.is_none() {
            self.over = late.or(stuck).map(|limit| (now, limit));
            if self.over.is_some() {
                self.report.hold();
            }
        }
        let Some((since, _)) = self.over else { return WatchStep::Continue };
        let passed = now.duration_since(since);
        if passed >= KILL {
            return WatchStep::Kill;
        }
        match LADDER.get(self.rung).filter(|(after, _)| passed >= *after) {
            Some((_, signal)) => {
                self.rung += 1;
                WatchStep::Send(*signal)
            }
            None => WatchStep::Continue,
        }
    }

    fn finish(self, ended: &ChildExit, mode: &'static str) -> RunOutcome {
        let end = match (self.over, &ended.how) {
            (Some(_), _) | (None, ExitCause::TimedOut) => ProcessEnd::TimeLimit,
            _ if self.lingered => ProcessEnd::Lingered,
            (None, ExitCause::Code(code)) => ProcessEnd::Code(*code),
            (None, ExitCause::Signal(signal)) => ProcessEnd::Signal(signal.name()),
            (None, ExitCause::Stopped | ExitCause::OverLimit(_) | ExitCause::Lost) => match ended.exit {
                Some(Exit::Code(code)) => ProcessEnd::Code(code),
                Some(Exit::Signal(signal)) => ProcessEnd::Signal(signal.name()),
                None => ProcessEnd::Signal("SIGKILL"),
            },
        };
        RunOutcome {
            end,
            stdout: self.scrubber.clean(&ended.output.stdout.text()),
            stderr: self.scrubber.clean(&ended.output.stderr.text()),
            took: self.began.elapsed(),
            limit: self.over.map_or(self.request.limit, |(_, limit)| limit),
            mode,
            lost: ended.how == ExitCause::Lost,
            report: self.report,
        }
    }
}
