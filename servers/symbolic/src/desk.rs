//! Where analyses are made: a few at a time, each on a thread of its own for as long as it takes, so that the server stays free for others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, reason};
use failwell_process::Launcher;
use failwell_server::{fault_of_panic, nearest};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout_at;

use crate::replay::{Pool, Replays, Walls};
use crate::solve::Solvers;
use crate::stack::Threads;
use crate::{Budget, Program, Progress, ReplayProblem, Replayer, validate};

/// Analyses at once.
const AT_ONCE: usize = 2;
/// Analyses at once and waiting.
const MOST: usize = 32;
/// How much later than its time limit an answer may come.
const OVERSHOOT: Duration = Duration::from_millis(350);

/// What the operator decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The interpreter for replays, instead of the `python3` on the PATH.
    pub python: Option<PathBuf>,
    /// How firmly the sandbox around replays stands.
    pub walls: Walls,
    /// What starts children.
    pub launcher: Launcher,
}

impl Settings {
    /// The usual ones.
    pub fn of(launcher: Launcher) -> Settings {
        Settings { python: None, walls: Walls::default(), launcher }
    }
}

/// What all analyses share.
#[derive(Debug)]
pub struct Desk {
    pool: Pool,
    solvers: Solvers,
    places: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    threads: Threads,
}

/// How far an analysis is: rounds of deepening, and paths seen.
pub type Rounds = watch::Receiver<(u32, u64)>;

/// What an analysis has to work with.
pub(crate) struct Bench<'a> {
    pub(crate) program: &'a Program,
    pub(crate) budget: Budget,
    pub(crate) replayer: &'a dyn Replayer,
    pub(crate) progress: &'a dyn Progress,
}

/// An analysis on its way. Dropped, it is called off.
pub struct Running<T> {
    answer: oneshot::Receiver<Result<T, Fault>>,
    /// How far it is.
    pub rounds: Rounds,
    called_off: Arc<AtomicBool>,
    deadline: Instant,
    seconds: u32,
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        self.called_off.store(true, Ordering::Relaxed);
    }
}

impl<T> Running<T> {
    /// Waits for the answer, but not longer than was allowed. May be given up and called again.
    pub async fn wait(&mut self) -> Result<T, Fault> {
        match timeout_at((self.deadline + OVERSHOOT).into(), &mut self.answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Fault::new(&reason::SYMBOLIC_FAILED).note("thread", "ended without an answer")),
            Err(_) => Err(timed_out(self.seconds)),
        }
    }
}

/// The fault of a call whose time is up.
pub(crate) fn timed_out(seconds: u32) -> Fault {
    Fault::new(&reason::SYMBOLIC_TIMEOUT).fact("limit_s", seconds).fact("error_type", "TimeoutError")
}

impl Desk {
    /// A desk without work.
    pub fn new(settings: Settings) -> Desk {
        Desk {
            solvers: Solvers::new(settings.launcher.clone()),
            pool: Pool::new(settings.launcher, settings.python, settings.walls),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            waiting: Arc::default(),
            threads: Threads::default(),
        }
    }

    /// Where replays are made.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Where solvers come from.
    pub(crate) fn solvers(&self) -> &Solvers {
        &self.solvers
    }

    /// Looks the code up and down, then analyses it on a thread of its own. Needs a runtime.
    pub(crate) fn start<T, W>(
        &self,
        code: String,
        functions: Vec<String>,
        seconds: u32,
        work: W,
    ) -> Result<Running<T>, Fault>
    where
        T: Send + 'static,
        W: FnOnce(&Bench<'_>) -> T + Send + 'static,
    {
        let place = Waiting::take(&self.waiting)?;
        let deadline = Instant::now() + Duration::from_secs(u64::from(seconds));
        let (told, rounds) = watch::channel((0, 0));
        let (sender, answer) = oneshot::channel();
        let called_off = Arc::new(AtomicBool::new(false));
        let listener = Listener { told, called_off: called_off.clone() };
        let (pool, places, runtime) = (self.pool.clone(), self.places.clone(), Handle::current());
        let solvers = self.solvers.clone();
        let job = move || {
            let seat = runtime.block_on(async { timeout_at(deadline.into(), places.acquire_owned()).await });
            let result = match seat {
                Ok(Ok(_seat)) => {
                    let task = Task { code, functions, seconds, deadline, pool, solvers, runtime };
                    let done = catch_unwind(AssertUnwindSafe(|| task.perform(&listener, work)));
                    done.unwrap_or_else(|payload| Err(broken(payload.as_ref())))
                }
                _ => Err(timed_out(seconds)),
            };
            drop(place);
            // Nobody waits any more when the call was called off.
            let _ = sender.send(result);
        };
        self.threads
            .run(Box::new(job))
            .map_err(|error| Fault::new(&reason::SYMBOLIC_FAILED).because(error))?;
        Ok(Running { answer, rounds, called_off, deadline, seconds })
    }
}

fn broken(payload: &(dyn std::any::Any + Send)) -> Fault {
    Fault::new(&reason::SYMBOLIC_FAILED).absorbing(fault_of_panic(payload))
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

/// One call, on its thread.
struct Task {
    code: String,
    functions: Vec<String>,
    seconds: u32,
    deadline: Instant,
    pool: Pool,
    solvers: Solvers,
    runtime: Handle,
}

impl Task {
    fn perform<T>(self, progress: &Listener, work: impl FnOnce(&Bench<'_>) -> T) -> Result<T, Fault> {
        validate::validate(&self.code).map_err(|refusal| refusal.fault())?;
        let program = Program::parse(&self.code)
            .map_err(|problem| syntax(usize::try_from(problem.line).unwrap_or(usize::MAX)))?;
        let known = program.functions();
        for function in &self.functions {
            if !known.contains(function) {
                return Err(unknown_function(function, &known));
            }
        }
        // CPython has the last word on what is Python. It is asked while the analysis goes on.
        let compiling = self.compile();
        let replayer = Replays::new(self.pool.clone(), self.solvers.clone(), self.runtime.clone());
        let budget = Budget { deadline: self.deadline, ..Budget::for_seconds(self.seconds) };
        let bench = Bench { program: &program, budget, replayer: &replayer, progress };
        let done = work(&bench);
        match self.runtime.block_on(compiling) {
            Ok(Ok(None)) => Ok(done),
            Ok(Ok(Some(line))) => Err(syntax(usize::try_from(line).unwrap_or(1))),
            Ok(Err(ReplayProblem::TimedOut)) => Err(timed_out(self.seconds)),
            Ok(Err(problem)) => Err(no_python(&problem)),
            Err(error) => Err(Fault::new(&reason::SYMBOLIC_FAILED).because(error)),
        }
    }

    fn compile(&self) -> JoinHandle<Result<Option<u32>, ReplayProblem>> {
        let (pool, code, deadline) = (self.pool.clone(), self.code.clone(), self.deadline);
        self.runtime.spawn(async move { pool.compile(&code, deadline).await })
    }
}

fn syntax(line: usize) -> Fault {
    validate::Refusal::Syntax { line }.fault()
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

struct Listener {
    told: watch::Sender<(u32, u64)>,
    called_off: Arc<AtomicBool>,
}

impl Progress for Listener {
    fn round(&self, round: u32, paths: u64) {
        // Nobody has to listen.
        let _ = self.told.send((round, paths));
    }

    fn is_cancelled(&self) -> bool {
        self.called_off.load(Ordering::Relaxed)
    }
}
