//! Real CPython, outside of this process and inside a sandbox: a few warm workers, and a fork of one for
//! every call.
//!
//! A worker has imported the allowed modules and has no data of a caller. It can read only Python's own
//! files. It cannot write, change metadata, open sockets or start programs, and its environment is empty.
//! Each fork has a time limit, a memory limit, and a working directory that is already removed. A worker that
//! does not respond, or whose run left processes behind, is killed with all of its descendants.

mod protocol;
mod python;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_process::{Launcher, SandboxNeed};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout_at;

pub use python::Python;
use worker::Worker;

use crate::reason;
use crate::{ReplayOutcome, ReplayProblem, ReplayRequest};

/// The number of workers for runs: two may be busy while another gets ready.
const RUNNING: usize = 3;
/// The number of workers for compilation, which is quick and needs no cleanup.
const COMPILING: usize = 1;
/// Maximum number of spoiled workers per run.
const SPOILED: usize = 3;
/// Minimum time of a run, so that a busy machine is not mistaken for a function that hangs.
const LEAST: Duration = Duration::from_millis(50);
/// Maximum time of a run. A longer call counts as one that does not end.
const MOST: Duration = Duration::from_secs(10);

/// Whether replays need the sandbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// Replays are refused without it.
    #[default]
    Required,
    /// The parts that the kernel supports.
    BestEffort,
    /// No sandbox, on the operator's explicit request.
    Off,
}

/// The replay workers of a server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WorkerPool(Arc<WorkerPoolState>);

#[derive(Debug)]
struct WorkerPoolState {
    launcher: Launcher,
    chosen: Option<PathBuf>,
    sandbox: SandboxMode,
    python: OnceCell<Python>,
    runs: WorkerStack,
    compilers: WorkerStack,
}

/// The idle workers for one kind of request.
#[derive(Debug, Clone)]
struct WorkerStack {
    idle: Arc<Mutex<Vec<Worker>>>,
    places: Arc<Semaphore>,
}

impl WorkerStack {
    fn new(most: usize) -> WorkerStack {
        WorkerStack { idle: Arc::default(), places: Arc::new(Semaphore::new(most)) }
    }

    fn keep(&self, worker: Worker) {
        self.idle().push(worker);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock()
    }
}

impl WorkerPool {
    /// A pool without workers. They start on demand. `chosen` replaces the `python3` on the PATH.
    pub fn new(launcher: Launcher, chosen: Option<PathBuf>, sandbox: SandboxMode) -> WorkerPool {
        WorkerPool(Arc::new(WorkerPoolState {
            launcher,
            chosen,
            sandbox,
            python: OnceCell::new(),
            runs: WorkerStack::new(RUNNING),
            compilers: WorkerStack::new(COMPILING),
        }))
    }

    pub async fn python(&self) -> Result<&Python, Fault> {
        let find = || python::find(&self.0.launcher, self.0.chosen.as_deref());
        self.0.python.get_or_try_init(find).await
    }

    /// Whether replays need the sandbox.
    pub fn sandbox(&self) -> SandboxMode {
        self.0.sandbox
    }

    /// Starts a worker if necessary, or reports why it cannot.
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

    /// The line on which CPython fails to compile the code, if it does.
    pub async fn compile(&self, code: &str, deadline: Instant) -> Result<Option<u32>, ReplayProblem> {
        let answer = self.ask(&self.0.compilers, protocol::compile(code), deadline).await?;
        protocol::compiled(&answer)
    }

    /// One call. See [`Replayer::run`](crate::Replayer::run).
    pub async fn call(&self, request: &ReplayRequest<'_>) -> Result<ReplayOutcome, ReplayProblem> {
        let answer = self.ask(&self.0.runs, protocol::call(request), request.deadline).await?;
        protocol::called(answer, request.conditions)
    }

    async fn ask(
        &self,
        workers: &WorkerStack,
        request: protocol::WorkerRequest,
        deadline: Instant,
    ) -> Result<protocol::WorkerResponse, ReplayProblem> {
        let place = timeout_at(deadline.into(), workers.places.clone().acquire_owned()).await;
        let place = place.map_err(|_| ReplayProblem::TimedOut)?.map_err(|_| broken("the pool is closed"))?;
        let mut asked = 0;
        let (answer, mut worker) = loop {
            asked += 1;
            let mut worker =
                self.worker(workers).await.map_err(|fault| broken(fault.operator().to_string()))?;
            let left = deadline.saturating_duration_since(Instant::now()).clamp(LEAST, MOST);
            match worker.ask(request.clone(), left).await {
                Ok(answer) => break (answer, worker),
                // Code of an earlier run pretended to be done and then wrote more. This request must not fail
                // because of it, so it takes another worker.
                Err(worker::RunError::Spoiled) if asked <= SPOILED => {}
                Err(unanswered) => return Err(unanswered.problem()),
            }
        };
        // The caller does not wait for the cleanup. A worker that cannot clean up is not reused.
        let workers = workers.clone();
        tokio::spawn(async move {
            if worker.is_ready_again().await {
                workers.keep(worker);
            }
            drop(place);
        });
        Ok(answer)
    }

    async fn worker(&self, workers: &WorkerStack) -> Result<Worker, Fault> {
        if let Some(idle) = workers.idle().pop() {
            return Ok(idle);
        }
        let need = match self.0.sandbox {
            SandboxMode::Required => Some(SandboxNeed::Required),
            SandboxMode::BestEffort => Some(SandboxNeed::BestEffort),
            SandboxMode::Off => None,
        };
        Worker::start(&self.0.launcher, self.python().await?, need).await
    }
}

fn broken(why: impl Into<String>) -> ReplayProblem {
    ReplayProblem::Broken(why.into())
}
