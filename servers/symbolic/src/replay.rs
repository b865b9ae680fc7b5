//! Real CPython, outside this process and inside a sandbox: a few warm workers, and a fork of one for every call.
//!
//! A worker has the allowed modules imported and nothing of any caller. It can read Python's own files and nothing else,
//! write nowhere, change no file's metadata, make no socket, start no program, and has no environment; a fork of it has a
//! time limit, a limit of memory and a working folder that is already gone. A worker that does not answer, or that a run left something behind in, is
//! ended with everything it started, and the next call gets a new one.

mod letters;
mod python;
mod worker;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, reason};
use failwell_process::{Launcher, Need};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout_at;

pub use python::Python;
use worker::Worker;

use crate::{ReplayOutcome, ReplayProblem, ReplayRequest};

/// Workers that make runs: two may be at it while another gets ready for the next.
const RUNNING: usize = 3;
/// Workers that compile, which takes a moment and leaves nothing to clear up.
const COMPILING: usize = 1;
/// How many spoiled workers a run may meet.
const SPOILED: usize = 3;
/// The least time a run is given, so that a busy machine is not taken for a function that hangs.
const LEAST: Duration = Duration::from_millis(50);
/// The most: a call that takes longer than this is one that does not end.
const MOST: Duration = Duration::from_secs(10);

/// How firmly the sandbox stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Walls {
    /// No run without it.
    #[default]
    Required,
    /// As far as the kernel has one.
    BestEffort,
    /// None, because somebody asked for it by name.
    Off,
}

/// The workers of a server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pool(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    launcher: Launcher,
    chosen: Option<PathBuf>,
    walls: Walls,
    python: OnceCell<Python>,
    runs: Workers,
    compilers: Workers,
}

/// Workers for one kind of letter.
#[derive(Debug, Clone)]
struct Workers {
    idle: Arc<Mutex<Vec<Worker>>>,
    places: Arc<Semaphore>,
}

impl Workers {
    fn new(most: usize) -> Workers {
        Workers { idle: Arc::default(), places: Arc::new(Semaphore::new(most)) }
    }

    fn keep(&self, worker: Worker) {
        self.idle().push(worker);
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool {
    /// A pool without workers; they come when they are needed. `chosen` is used instead of the `python3` on the PATH.
    pub fn new(launcher: Launcher, chosen: Option<PathBuf>, walls: Walls) -> Pool {
        Pool(Arc::new(Inner {
            launcher,
            chosen,
            walls,
            python: OnceCell::new(),
            runs: Workers::new(RUNNING),
            compilers: Workers::new(COMPILING),
        }))
    }

    /// The interpreter that is used.
    pub async fn python(&self) -> Result<&Python, Fault> {
        let find = || python::find(&self.0.launcher, self.0.chosen.as_deref());
        self.0.python.get_or_try_init(find).await
    }

    /// How firmly the sandbox stands.
    pub fn walls(&self) -> Walls {
        self.0.walls
    }

    /// Sees to it that a worker is ready, or says why there cannot be one.
    pub async fn warm(&self) -> Result<(), Fault> {
        for workers in [&self.0.runs, &self.0.compilers] {
            if workers.idle().is_empty() {
                let place = workers.places.acquire().await;
                let _place = place.map_err(|_| Fault::new(&reason::SYMBOLIC_FAILED))?;
                workers.keep(self.worker(workers).await?);
            }
        }
        Ok(())
    }

    /// The line on which CPython stops compiling the code, if it does not take it.
    pub async fn compile(&self, code: &str, deadline: Instant) -> Result<Option<u32>, ReplayProblem> {
        let answer = self.ask(&self.0.compilers, letters::compile(code), deadline).await?;
        letters::compiled(&answer)
    }

    /// One call; see [`Replayer::run`](crate::Replayer::run).
    pub async fn call(&self, request: &ReplayRequest<'_>) -> Result<ReplayOutcome, ReplayProblem> {
        let answer = self.ask(&self.0.runs, letters::call(request), request.deadline).await?;
        letters::called(answer, request.conditions)
    }

    async fn ask(
        &self,
        workers: &Workers,
        letter: letters::Letter,
        deadline: Instant,
    ) -> Result<letters::Answer, ReplayProblem> {
        let place = timeout_at(deadline.into(), workers.places.clone().acquire_owned()).await;
        let place = place.map_err(|_| ReplayProblem::TimedOut)?.map_err(|_| broken("the pool is closed"))?;
        let mut asked = 0;
        let (answer, mut worker) = loop {
            asked += 1;
            let mut worker =
                self.worker(workers).await.map_err(|fault| broken(fault.operator().to_string()))?;
            let left = deadline.saturating_duration_since(Instant::now()).clamp(LEAST, MOST);
            match worker.ask(letter.clone(), left).await {
                Ok(answer) => break (answer, worker),
                // Code that ran before pretended to be done, and said more than it was asked: nobody else pays for it.
                Err(worker::Unanswered::Spoiled) if asked <= SPOILED => {}
                Err(unanswered) => return Err(unanswered.problem()),
            }
        };
        // Nobody waits for it to clear up; one that cannot is not used again.
        let workers = workers.clone();
        tokio::spawn(async move {
            if worker.is_ready_again().await {
                workers.keep(worker);
            }
            drop(place);
        });
        Ok(answer)
    }

    async fn worker(&self, workers: &Workers) -> Result<Worker, Fault> {
        if let Some(idle) = workers.idle().pop() {
            return Ok(idle);
        }
        let need = match self.0.walls {
            Walls::Required => Some(Need::Required),
            Walls::BestEffort => Some(Need::BestEffort),
            Walls::Off => None,
        };
        Worker::start(&self.0.launcher, self.python().await?, need).await
    }
}

fn broken(why: impl Into<String>) -> ReplayProblem {
    ReplayProblem::Broken(why.into())
}
