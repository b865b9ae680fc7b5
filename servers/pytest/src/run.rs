//! One run from start to end: events in, the clock watched, and nothing left over.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_process::{
    Caps, Child, Ended, Environment, EventReader, Exit, How, Launcher, Limits, Plan, Sandbox, Signal,
};
use failwell_server::Context;
use serde_json::Value;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::classify::End;
use crate::event::Lines;
use crate::inside;
use crate::interpreter::Interpreter;
use crate::pipe;
use crate::place::Project;
use crate::report::Report;
use crate::scrub::Scrub;
use crate::warm::Fork;

/// Where the program inside finds its pipe.
pub(crate) const EVENTS: &str = "FAILWELL_EVENTS";
/// Output kept of each stream. All of it is behind the run's log.
pub(crate) const KEPT: Caps = Caps { head: 1024 * 1024, tail: 7 * 1024 * 1024 };
/// How often the clock is looked at.
const TICK: Duration = Duration::from_millis(100);
/// Progress is told at most this often.
const TELLING: Duration = Duration::from_millis(200);
/// How long an interpreter may live on after pytest returned.
const LINGER: Duration = Duration::from_secs(5);
/// How long a test may outlast its own limit before the run is ended for it.
const STUCK: Duration = Duration::from_secs(3);
/// What a run is told at its limit, and when: the stack first, then to stop, then more firmly.
const LADDER: [(Duration, Signal); 3] = [
    (Duration::ZERO, Signal::USR2),
    (Duration::from_millis(300), Signal::INT),
    (Duration::from_millis(1_800), Signal::TERM),
];
/// When it is killed, counted from the limit.
const KILL: Duration = Duration::from_millis(2_800);
/// Bytes of any one file a test may write.
const LARGEST_FILE: u64 = 4 * 1024 * 1024 * 1024;
/// Processes the tests may have at once.
const MOST_PROCESSES: u64 = 1_000;

/// What to run.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) project: Project,
    pub(crate) interpreter: Interpreter,
    /// pytest's own arguments.
    pub(crate) arguments: Vec<String>,
    /// What the program inside needs to know.
    pub(crate) settings: Value,
    pub(crate) environment: Environment,
    /// Where the program inside is.
    pub(crate) inside: PathBuf,
    pub(crate) sandbox: Sandbox,
    pub(crate) limit: Duration,
    pub(crate) per_test: Option<Duration>,
}

impl Order {
    /// The plan for the program inside, up to what it is to do.
    pub(crate) fn plan(&self, verb: &str) -> Plan {
        let mut plan = Plan::new(&self.interpreter.path, self.project.root()).arguments([
            OsStr::new("-c"),
            OsStr::new(inside::START),
            self.inside.as_os_str(),
            OsStr::new(verb),
        ]);
        plan.environment = self.environment.clone();
        plan.sandbox = self.sandbox.clone();
        plan
    }
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) report: Report,
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    /// The limit that was hit, if one was.
    pub(crate) limit: Duration,
    pub(crate) mode: &'static str,
    /// Whether the process that oversaw it went missing.
    pub(crate) lost: bool,
}

/// A run in progress, in a process of its own or a fork of a warm one.
pub(crate) enum Running {
    Cold(Child),
    Warm(Fork),
}

impl Running {
    /// Starts a process of its own.
    pub(crate) async fn cold(launcher: &Launcher, order: &Order) -> Result<(Running, EventReader), Fault> {
        let mut plan = order.plan("run").arguments([order.settings.to_string()]).arguments(&order.arguments);
        plan.events = Some(EVENTS.into());
        plan.output = KEPT;
        plan.limits = limits(order.limit);
        let mut child = launcher.start(plan).await?;
        let events = child.take_events();
        let events = events
            .ok_or_else(|| Fault::new(&failwell_fault::reason::SERVER_BUG).note("events", "no pipe"))?;
        Ok((Running::Cold(child), events))
    }

    async fn signal(&self, signal: Signal) {
        match self {
            // One that has ended takes no signals, and is waited for just the same.
            Running::Cold(child) => drop(child.signal(signal).await),
            Running::Warm(fork) => fork.signal(signal).await,
        }
    }

    async fn wait(&mut self) -> Ended {
        match self {
            Running::Cold(child) => child.wait().await,
            Running::Warm(fork) => fork.wait().await,
        }
    }

    async fn kill(&mut self) -> Ended {
        match self {
            Running::Cold(child) => child.stop(Duration::ZERO).await,
            Running::Warm(fork) => fork.kill().await,
        }
    }

    fn mode(&self) -> &'static str {
        match self {
            Running::Cold(_) => "cold",
            Running::Warm(_) => "warm",
        }
    }
}

/// The bounds of a run. The clock is the supervisor's only if we should fail to watch it.
pub(crate) fn limits(limit: Duration) -> Limits {
    Limits {
        wall: Some(limit + KILL + LINGER),
        file_size: Some(LARGEST_FILE),
        processes: Some(MOST_PROCESSES),
        ..Limits::default()
    }
}

/// Sees a run to its end. Dropped, it takes the run and everything it started with it.
pub(crate) async fn watch(
    mut running: Running,
    events: EventReader,
    order: &Order,
    scrub: &Scrub,
    cx: &Context,
) -> Ran {
    let mut watched = Watched::new(order, scrub, cx);
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut events = pipe::batches(events);
    let mut open = true;
    let ended = loop {
        tokio::select! {
            batch = events.recv(), if open => match batch {
                Some(bytes) => watched.hear(&bytes).await,
                None => open = false,
            },
            ended = running.wait() => break ended,
            _ = ticks.tick() => match watched.tick().await {
                Next::GoOn => {}
                Next::Send(signal) => running.signal(signal).await,
                Next::Kill => break running.kill().await,
            },
        }
    };
    // Everything that could hold the pipe is gone, so the rest of it comes at once.
    while open {
        match timeout(TICK * 5, events.recv()).await {
            Ok(Some(bytes)) => watched.hear(&bytes).await,
            _ => open = false,
        }
    }
    watched.settle(&ended, running.mode())
}

enum Next {
    GoOn,
    Send(Signal),
    Kill,
}

struct Watched<'a> {
    order: &'a Order,
    scrub: &'a Scrub,
    cx: &'a Context,
    report: Report,
    lines: Lines,
    began: Instant,
    told: Instant,
    ticks: u32,
    /// When the running test began, by the count of tests that had begun.
    current: (u64, Instant),
    returned: Option<Instant>,
    over: Option<(Instant, Duration)>,
    rung: usize,
    lingered: bool,
}

impl<'a> Watched<'a> {
    fn new(order: &'a Order, scrub: &'a Scrub, cx: &'a Context) -> Watched<'a> {
        let now = Instant::now();
        Watched {
            order,
            scrub,
            cx,
            report: Report::default(),
            lines: Lines::default(),
            began: now,
            told: now,
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
            self.report.take_line(&line, self.scrub, &self.order.project);
        }
        if self.report.exit.is_some() && self.returned.is_none() {
            self.returned = Some(Instant::now());
        }
        if self.told.elapsed() >= TELLING {
            self.tell().await;
        }
    }

    /// Progress must rise, so a test that takes long adds a little to it.
    async fn tell(&mut self) {
        let done = self.report.tests.len();
        self.told = Instant::now();
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

    async fn tick(&mut self) -> Next {
        let now = Instant::now();
        if self.report.started() != self.current.0 {
            self.current = (self.report.started(), now);
            self.ticks = 0;
        }
        self.ticks += 1;
        if now.duration_since(self.told) >= TELLING * 5 {
            self.tell().await;
        }
        if self.returned.is_some_and(|returned| now.duration_since(returned) >= LINGER) {
            self.lingered = true;
            return Next::Kill;
        }
        if self.returned.is_some() {
            return Next::GoOn;
        }
        let stuck = self.order.per_test.filter(|limit| {
            self.report.running().is_some() && now.duration_since(self.current.1) >= *limit + STUCK
        });
        let late = (now.duration_since(self.began) >= self.order.limit).then_some(self.order.limit);
        if self.over.is_none() {
            self.over = late.or(stuck).map(|limit| (now, limit));
            if self.over.is_some() {
                self.report.hold();
            }
        }
        let Some((since, _)) = self.over else { return Next::GoOn };
        let passed = now.duration_since(since);
        if passed >= KILL {
            return Next::Kill;
        }
        match LADDER.get(self.rung).filter(|(after, _)| passed >= *after) {
            Some((_, signal)) => {
                self.rung += 1;
                Next::Send(*signal)
            }
            None => Next::GoOn,
        }
    }

    fn settle(self, ended: &Ended, mode: &'static str) -> Ran {
        let end = match (self.over, &ended.how) {
            (Some(_), _) | (None, How::TimedOut) => End::TimeLimit,
            _ if self.lingered => End::Lingered,
            (None, How::Code(code)) => End::Code(*code),
            (None, How::Signal(signal)) => End::Signal(signal.name()),
            (None, How::Stopped | How::OverLimit(_) | How::Lost) => match ended.exit {
                Some(Exit::Code(code)) => End::Code(code),
                Some(Exit::Signal(signal)) => End::Signal(signal.name()),
                None => End::Signal("SIGKILL"),
            },
        };
        Ran {
            end,
            stdout: self.scrub.clean(&ended.output.stdout.text()),
            stderr: self.scrub.clean(&ended.output.stderr.text()),
            took: self.began.elapsed(),
            limit: self.over.map_or(self.order.limit, |(_, limit)| limit),
            mode,
            lost: ended.how == How::Lost,
            report: self.report,
        }
    }
}
