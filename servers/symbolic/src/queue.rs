//! The analyses of a server: a few at a time, each in an engine process of its own, so that one which takes too much
//! memory, crashes or hangs costs no other call.

mod engine_process;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, reason};
use failwell_process::Launcher;
use failwell_server::nearest;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout_at;

use engine_process::{EnginePool, EngineProcess, Loss};

use crate::engine::protocol::{Assignment, Done, FromEngine, Job, Rejection, Replay, Report, ToEngine};
use crate::replay::{Pool, Walls};
use crate::solve::{Lent, Solvers};
use crate::{ReplayOutcome, ReplayProblem, ReplayRequest, validate};

/// Analyses at once.
const AT_ONCE: usize = 2;
/// Analyses at once and waiting.
const MOST: usize = 32;
/// How much later than its time limit an answer may come.
const OVERSHOOT: Duration = Duration::from_millis(350);
/// Engines an analysis may lose for no fault of its own before it fails.
const MOST_LOST: usize = 2;
/// Solvers one analysis may have open.
const MOST_SOLVERS: usize = 8;

/// Megabytes of memory for one analysis, unless the operator says otherwise.
pub const USUAL_MEMORY_MB: u64 = 1024;

/// What the operator decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The interpreter for replays, instead of the `python3` on the PATH.
    pub python: Option<PathBuf>,
    /// How firmly the sandbox around replays stands.
    pub walls: Walls,
    /// What starts children. Its program has to call [`engine_main`](crate::engine_main) when its first argument is
    /// [`ENGINE_ARGUMENT`](crate::ENGINE_ARGUMENT).
    pub launcher: Launcher,
    /// Megabytes of memory for one analysis.
    pub memory_mb: u64,
}

impl Settings {
    /// The usual ones.
    pub fn of(launcher: Launcher) -> Settings {
        Settings { python: None, walls: Walls::default(), launcher, memory_mb: USUAL_MEMORY_MB }
    }
}

/// How far an analysis is: rounds of deepening, and paths seen.
pub(crate) type Rounds = watch::Sender<(u32, u64)>;

/// What all analyses share.
#[derive(Debug)]
pub struct AnalysisQueue {
    python: Pool,
    solvers: Solvers,
    engines: EnginePool,
    places: Semaphore,
    waiting: Arc<AtomicUsize>,
}

impl AnalysisQueue {
    /// A queue without work.
    pub fn new(settings: Settings) -> AnalysisQueue {
        AnalysisQueue {
            solvers: Solvers::new(settings.launcher.clone()),
            engines: EnginePool::new(settings.launcher.clone(), settings.memory_mb),
            python: Pool::new(settings.launcher, settings.python, settings.walls),
            places: Semaphore::new(AT_ONCE),
            waiting: Arc::default(),
        }
    }

    /// Where replays are made.
    pub fn python(&self) -> &Pool {
        &self.python
    }

    /// Where solvers come from.
    pub(crate) fn solvers(&self) -> &Solvers {
        &self.solvers
    }

    /// Sees to it that an engine is ready, or says why there cannot be one.
    pub(crate) async fn warm_engine(&self) -> Result<(), Fault> {
        let engine = self.engines.take().await?;
        self.engines.keep(engine);
        Ok(())
    }

    /// Validates the code, then analyses it. Dropped, the analysis is called off.
    pub(crate) async fn analyse(&self, job: Job, rounds: &Rounds) -> Result<Report, Fault> {
        let _waiting = Waiting::take(&self.waiting)?;
        let seconds = job.seconds();
        let deadline = Instant::now() + Duration::from_secs(u64::from(seconds));
        let analysis = Analysis { queue: self, job, deadline, rounds, compiling: None, solvers: Vec::new() };
        let answer = timeout_at((deadline + OVERSHOOT).into(), analysis.perform()).await;
        answer.unwrap_or_else(|_| Err(timed_out(seconds)))
    }
}

/// One call.
struct Analysis<'a> {
    queue: &'a AnalysisQueue,
    job: Job,
    deadline: Instant,
    rounds: &'a Rounds,
    /// CPython has the last word on what is Python. It is asked while the analysis goes on.
    compiling: Option<JoinHandle<Result<Option<u32>, ReplayProblem>>>,
    solvers: Vec<Option<Lent>>,
}

impl Analysis<'_> {
    async fn perform(mut self) -> Result<Report, Fault> {
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

    /// What an engine makes of it. One that is lost for no fault of the analysis is replaced: an analysis changes nothing,
    /// so it can be made again.
    async fn report(&mut self) -> Result<Report, Fault> {
        let mut lost = 0;
        loop {
            let mut engine = self.queue.engines.take().await?;
            let done = match self.converse(&mut engine).await {
                Ok(done) => done,
                Err(_) => match engine.loss().await {
                    Loss::Memory(fault) | Loss::Crash(fault) => return Err(fault),
                    Loss::Killed(fault) if lost >= MOST_LOST => return Err(fault),
                    Loss::Killed(_) => {
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

    /// Answers the engine's questions until it is done. Fails when it is gone.
    async fn converse(&mut self, engine: &mut EngineProcess) -> std::io::Result<Done> {
        let remaining = self.deadline.saturating_duration_since(Instant::now());
        engine.send(&ToEngine::Analyse(Assignment { job: self.job.clone(), remaining })).await?;
        loop {
            let answer = match engine.receive().await? {
                FromEngine::Done(done) => return Ok(done),
                FromEngine::Accepted => {
                    self.compile();
                    continue;
                }
                FromEngine::Round(round, paths) => {
                    // Nobody has to listen.
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
                    let deadline = self.no_later(remaining);
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

    async fn replay(&self, replay: &Replay<'_>) -> Result<ReplayOutcome, ReplayProblem> {
        let request = ReplayRequest {
            code: &replay.code,
            function: &replay.function,
            args: &replay.args,
            kwargs: &replay.kwargs,
            conditions: &replay.conditions,
            branches: &replay.branches,
            deadline: self.no_later(replay.remaining),
        };
        self.queue.python.call(&request).await
    }

    async fn open_solver(&mut self) -> bool {
        if self.solvers.len() >= MOST_SOLVERS {
            return false;
        }
        let lent = self.queue.solvers.lend().await;
        let is_there = lent.is_some();
        self.solvers.extend(lent.map(Some));
        is_there
    }

    /// Then, but not after the analysis has to be over.
    fn no_later(&self, remaining: Duration) -> Instant {
        (Instant::now() + remaining.min(Duration::from_secs(3600))).min(self.deadline)
    }
}

fn rejected(rejection: &Rejection) -> Fault {
    match rejection {
        Rejection::Refused(refusal) => refusal.fault(),
        Rejection::UnknownFunction { function, known } => unknown_function(function, known),
    }
}

/// The fault of a call whose time is up.
pub(crate) fn timed_out(seconds: u32) -> Fault {
    Fault::new(&reason::SYMBOLIC_TIMEOUT).fact("limit_s", seconds).fact("error_type", "TimeoutError")
}

/// The fault of a call that took too much memory.
pub(crate) fn out_of_memory(limit_mb: u64) -> Fault {
    Fault::new(&reason::SYMBOLIC_MEMORY).fact("limit_mb", limit_mb).fact("error_type", "TimeoutError")
}

fn syntax(line: u32) -> Fault {
    validate::Refusal::Syntax { line: usize::try_from(line).unwrap_or(1) }.fault()
}

fn no_python(problem: &ReplayProblem) -> Fault {
    Fault::new(&reason::SYMBOLIC_NO_PYTHON)
        .fact("error_type", "RuntimeError")
        .note("worker", format!("{problem:?}"))
}

/// The fault for a function that is not there.
pub(crate) fn unknown_function(function: &str, known: &[String]) -> Fault {
    Fault::new(&reason::SYMBOLIC_UNKNOWN_FUNCTION)
        .fact("function", failwell_fault::Echo::of_caller(function))
        .fact("error_type", "ValueError")
        .nearest(nearest(function, known.iter().map(String::as_str)))
}

/// A place in the queue, given back when dropped.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn take(count: &Arc<AtomicUsize>) -> Result<Waiting, Fault> {
        let before = count.fetch_add(1, Ordering::Relaxed);
        let taken = Waiting(count.clone());
        if before >= MOST {
            return Err(Fault::new(&reason::SYMBOLIC_BUSY).fact("limit", MOST));
        }
        Ok(taken)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
