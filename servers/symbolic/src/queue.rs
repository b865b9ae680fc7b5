//! The analyses of a server. A few run at a time, each in its own engine process. An analysis that takes too
//! much memory, crashes or hangs therefore costs no other call.

mod engine_process;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_process::Launcher;
use failwell_sdk::nearest;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout_at;

use engine_process::{EngineLoss, EnginePool, EngineProcess};

use crate::engine::protocol::{
    AnalysisEnd, AnalysisReport, AnalysisRequest, FromEngine, Job, Rejection, ReplayCall, ToEngine,
};
use crate::frontend::validate;
use crate::reason;
use crate::replay::{SandboxMode, WorkerPool};
use crate::solve::{SolverLease, SolverPool};
use crate::{ReplayOutcome, ReplayProblem, ReplayRequest};

/// Maximum number of concurrent analyses.
const AT_ONCE: usize = 2;
/// Maximum number of running and waiting analyses.
const MOST: usize = 32;
/// The time that a response may exceed the time limit.
const OVERSHOOT: Duration = Duration::from_millis(350);
/// Maximum number of engines that an analysis may lose without its own fault.
const MOST_LOST: usize = 2;
/// Maximum number of open solvers per analysis.
const MOST_SOLVERS: usize = 8;

/// The default memory limit of one analysis, in megabytes.
pub const DEFAULT_MEMORY_MB: u64 = 1024;

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The interpreter for replays. By default `python3` on the PATH.
    pub python: Option<PathBuf>,
    /// The strictness of the sandbox of replays.
    pub sandbox: SandboxMode,
    /// Starts child processes. Its program must call [`engine_main`](crate::engine_main) when its first
    /// argument is [`ENGINE_ARGUMENT`](crate::ENGINE_ARGUMENT).
    pub launcher: Launcher,
    /// The memory limit of one analysis, in megabytes.
    pub memory_mb: u64,
}

impl Settings {
    /// Default settings.
    pub fn new(launcher: Launcher) -> Settings {
        Settings { python: None, sandbox: SandboxMode::default(), launcher, memory_mb: DEFAULT_MEMORY_MB }
    }
}

/// Publishes the progress of an analysis: rounds of iterative deepening, and paths explored.
pub(crate) type ProgressSender = watch::Sender<(u32, u64)>;

/// The queue of analyses and the process pools they share.
#[derive(Debug)]
pub struct AnalysisQueue {
    python: WorkerPool,
    solvers: SolverPool,
    engines: EnginePool,
    places: Semaphore,
    waiting: Arc<AtomicUsize>,
}

impl AnalysisQueue {
    /// An empty queue.
    pub fn new(settings: Settings) -> AnalysisQueue {
        AnalysisQueue {
            solvers: SolverPool::new(settings.launcher.clone()),
            engines: EnginePool::new(settings.launcher.clone(), settings.memory_mb),
            python: WorkerPool::new(settings.launcher, settings.python, settings.sandbox),
            places: Semaphore::new(AT_ONCE),
            waiting: Arc::default(),
        }
    }

    /// The workers of replays.
    pub fn python(&self) -> &WorkerPool {
        &self.python
    }

    pub(crate) fn solvers(&self) -> &SolverPool {
        &self.solvers
    }

    /// Starts an engine if necessary, or reports why it cannot.
    pub(crate) async fn warm_engine(&self) -> Result<(), Fault> {
        let engine = self.engines.take().await?;
        self.engines.keep(engine);
        Ok(())
    }

    /// Validates the code, then analyses it. Dropping the future cancels the analysis.
    pub(crate) async fn analyse(&self, job: Job, rounds: &ProgressSender) -> Result<AnalysisReport, Fault> {
        let _waiting = QueueSlot::take(&self.waiting)?;
        let seconds = job.seconds();
        let deadline = Instant::now() + Duration::from_secs(u64::from(seconds));
        let analysis =
            AnalysisRun { queue: self, job, deadline, rounds, compiling: None, solvers: Vec::new() };
        let answer = timeout_at((deadline + OVERSHOOT).into(), analysis.perform()).await;
        answer.unwrap_or_else(|_| Err(timed_out(seconds)))
    }
}

/// One analysis in progress.
struct AnalysisRun<'a> {
    queue: &'a AnalysisQueue,
    job: Job,
    deadline: Instant,
    rounds: &'a ProgressSender,
    /// CPython decides whether the code is Python. It compiles the code during the analysis.
    compiling: Option<JoinHandle<Result<Option<u32>, ReplayProblem>>>,
    solvers: Vec<Option<SolverLease>>,
}

impl AnalysisRun<'_> {
    async fn perform(mut self) -> Result<AnalysisReport, Fault> {
        let place = timeout_at(self.deadline.into(), self.queue.places.acquire()).await;
        let Ok(Ok(_place)) = place else { return Err(timed_out(self.job.seconds())) };
        let report = self.report().await?;
        match self.compiling.take() {
            None => Ok(report),
            Some(compiling) => match compiling.await {
                Ok(Ok(None)) => Ok(report),
                Ok(Ok(Some(line))) => Err(syntax(line)),
                Ok(Err(ReplayProblem::TimedOut)) => Err(timed_out(self.job.seconds())),
                Ok(Err(problem)) => Err(no_python(&problem)),
                Err(error) => Err(Fault::new(&reason::SYMBOLIC_FAILED).because(error)),
            },
        }
    }

    /// Runs the analysis in an engine. An engine that is lost without a fault of the analysis is replaced: an
    /// analysis has no effects, so it can be repeated.
    async fn report(&mut self) -> Result<AnalysisReport, Fault> {
        let mut lost = 0;
        loop {
            let mut engine = self.queue.engines.take().await?;
            let done = match self.serve_engine(&mut engine).await {
                Ok(done) => done,
                Err(_) => match engine.loss().await {
                    EngineLoss::Memory(fault) | EngineLoss::Crash(fault) => return Err(fault),
                    EngineLoss::Killed(fault) if lost >= MOST_LOST => return Err(fault),
                    EngineLoss::Killed(_) => {
                        lost += 1;
                        self.solvers.clear();
                        continue;
                    }
                },
            };
            if !done.is_spent {
                self.queue.engines.keep(engine);
            }
            return done.result.map_err(|rejection| rejected(&rejection));
        }
    }

    /// Serves the engine's requests until it is done. Fails if the engine ends.
    async fn serve_engine(&mut self, engine: &mut EngineProcess) -> std::io::Result<AnalysisEnd> {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        engine.send(&ToEngine::Analyse(AnalysisRequest { job: self.job.clone(), remaining })).await?;
        loop {
            let answer = match engine.receive().await? {
                FromEngine::Done(done) => return Ok(done),
                FromEngine::Accepted => {
                    self.compile();
                    continue;
                }
                FromEngine::Round(round, paths) => {
                    // The receiver may be gone: progress is optional.
                    let _ = self.rounds.send((round, paths));
                    continue;
                }
                FromEngine::CloseSolver { solver } => {
                    self.solvers.get_mut(solver).and_then(Option::take);
                    continue;
                }
                FromEngine::Replay(replay) => ToEngine::Replayed(self.replay(&replay).await),
                FromEngine::OpenSolver => ToEngine::SolverOpened(self.open_solver().await),
                FromEngine::AskSolver { solver, commands, remaining } => {
                    let deadline = self.min_deadline(remaining);
                    ToEngine::Solved(match self.solvers.get_mut(solver) {
                        Some(Some(lent)) => lent.ask(&commands, deadline).await,
                        _ => None,
                    })
                }
            };
            engine.send(&answer).await?;
        }
    }

    fn compile(&mut self) {
        if self.compiling.is_none() {
            let (python, code) = (self.queue.python.clone(), self.job.code().to_owned());
            let deadline = self.deadline;
            self.compiling = Some(tokio::spawn(async move { python.compile(&code, deadline).await }));
        }
    }

    async fn replay(&self, replay: &ReplayCall<'_>) -> Result<ReplayOutcome, ReplayProblem> {
        let request = ReplayRequest {
            code: &replay.code,
            function: &replay.function,
            args: &replay.args,
            kwargs: &replay.kwargs,
            conditions: &replay.conditions,
            branches: &replay.branches,
            deadline: self.min_deadline(replay.remaining),
        };
        self.queue.python.call(&request).await
    }

    async fn open_solver(&mut self) -> bool {
        if self.solvers.len() >= MOST_SOLVERS {
            return false;
        }
        let lent = self.queue.solvers.lease().await;
        let is_there = lent.is_some();
        self.solvers.extend(lent.map(Some));
        is_there
    }

    /// This time from now, but not after the deadline of the analysis.
    fn min_deadline(&self, remaining: Duration) -> Instant {
        (Instant::now() + remaining.min(Duration::from_secs(3600))).min(self.deadline)
    }
}

fn rejected(rejection: &Rejection) -> Fault {
    match rejection {
        Rejection::Refused(refusal) => refusal.fault(),
        Rejection::UnknownFunction { function, known } => unknown_function(function, known),
    }
}

/// The fault of a timeout.
pub(crate) fn timed_out(seconds: u32) -> Fault {
    Fault::new(&reason::SYMBOLIC_TIMEOUT).fact("limit_s", seconds).fact("error_type", "TimeoutError")
}

/// The fault of an exceeded memory limit.
pub(crate) fn out_of_memory(limit_mb: u64) -> Fault {
    Fault::new(&reason::SYMBOLIC_MEMORY).fact("limit_mb", limit_mb).fact("error_type", "TimeoutError")
}

fn syntax(line: u32) -> Fault {
    validate::ValidationError::Syntax { line: usize::try_from(line).unwrap_or(1) }.fault()
}

fn no_python(problem: &ReplayProblem) -> Fault {
    Fault::new(&reason::SYMBOLIC_NO_PYTHON)
        .fact("error_type", "RuntimeError")
        .note("worker", format!("{problem:?}"))
}

pub(crate) fn unknown_function(function: &str, known: &[String]) -> Fault {
    Fault::new(&reason::SYMBOLIC_UNKNOWN_FUNCTION)
        .fact("function", failwell_fault::Echo::of_caller(function))
        .fact("error_type", "ValueError")
        .nearest(nearest(function, known.iter().map(String::as_str)))
}

/// A slot in the queue. Dropping it releases the slot.
struct QueueSlot(Arc<AtomicUsize>);

impl QueueSlot {
    fn take(count: &Arc<AtomicUsize>) -> Result<QueueSlot, Fault> {
        let before = count.fetch_add(1, Ordering::Relaxed);
        let taken = QueueSlot(count.clone());
        if before >= MOST {
            return Err(Fault::new(&reason::SYMBOLIC_BUSY).fact("limit", MOST));
        }
        Ok(taken)
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
