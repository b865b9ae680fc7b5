//! Warm solvers: a start takes longer than most queries.
//!
//! A returned solver is reset before its next use, so that no data of one analysis reaches the next. Its step
//! counter starts at zero: the same queries cost the same after any other analysis. The reset runs off the
//! hot path.

use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_process::{
    Child, Environment, Input, InputWriter, Launcher, Limits, OutputReader, Plan, Stdout,
};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout_at;

use crate::reason;

/// Maximum number of idle solvers: two analyses with two solvers each.
const IDLE: usize = 4;
/// A solver is replaced after this many analyses, which frees its memory.
const MOST_USES: u32 = 100;
/// The limit in megabytes at which Z3 itself gives up; below, its limit of address space.
const MEMORY: &str = "-memory:1024";
const ADDRESSES: u64 = 3 << 30;
/// Timeout of a start or a reset.
const START: Duration = Duration::from_secs(10);
/// Maximum length of an output.
const LONGEST: usize = 16 << 20;
/// Resets the solver and makes a first query, which takes ten times as long as later ones. Declarations
/// survive a pop.
const AFRESH: &str = "(reset)\n(set-option :global-declarations true)\n(declare-const |a first number| Int)\n\
    (push)\n(assert (> |a first number| 1))\n(check-sat)\n(pop)\n";
/// Printed after every output.
const END: &str = "(echo \"<end>\")\n";
const MARK: &[u8] = b"<end>\n";

/// The solver processes of a server. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct SolverPool(Arc<SolverPoolState>);

#[derive(Debug)]
struct SolverPoolState {
    launcher: Launcher,
    idle: Mutex<Vec<SolverProcess>>,
}

impl SolverPool {
    /// A pool without solvers. They start on demand.
    pub(crate) fn new(launcher: Launcher) -> SolverPool {
        SolverPool(Arc::new(SolverPoolState { launcher, idle: Mutex::default() }))
    }

    /// A solver without history. `None` if this machine has no solver.
    pub(crate) async fn lease(&self) -> Option<SolverLease> {
        let talk = self.fresh().await.ok()?;
        Some(SolverLease { talk: Some(talk), pool: self.clone() })
    }

    /// The name and version in results.
    pub(crate) async fn version(&self) -> Option<String> {
        let mut talk = self.fresh().await.ok()?;
        let version = timeout_at((Instant::now() + START).into(), talk.ask("(get-info :version)\n")).await;
        let version = super::z3::version_in(&version.ok()??);
        self.take_back(talk).await;
        version
    }

    async fn fresh(&self) -> Result<SolverProcess, Fault> {
        match self.take() {
            Some(talk) => Ok(talk),
            None => SolverProcess::start(&self.0.launcher).await,
        }
    }

    /// Resets a used solver and returns it to the pool.
    async fn take_back(&self, mut talk: SolverProcess) {
        talk.uses += 1;
        let until = Instant::now() + START;
        if talk.uses <= MOST_USES
            && let Ok(Some(_)) = timeout_at(until.into(), talk.ask(AFRESH)).await
        {
            self.keep(talk);
        }
    }

    fn take(&self) -> Option<SolverProcess> {
        self.0.idle.lock().pop()
    }

    fn keep(&self, talk: SolverProcess) {
        let mut idle = self.0.idle.lock();
        if idle.len() < IDLE {
            idle.push(talk);
        }
    }
}

/// A running solver process. Dropping it kills the process.
#[derive(Debug)]
struct SolverProcess {
    input: InputWriter,
    output: OutputReader,
    received: Vec<u8>,
    uses: u32,
    /// Never read. Dropping it ends the solver.
    _child: Child,
}

impl SolverProcess {
    async fn start(launcher: &Launcher) -> Result<SolverProcess, Fault> {
        let missing = || Fault::new(&reason::SYMBOLIC_NO_SOLVER);
        let program = super::find().ok_or_else(missing)?;
        let mut plan = Plan::new(program, "/").arguments(["-in", "-smt2", MEMORY]);
        plan.environment = Environment::empty();
        plan.input = Input::Pipe;
        plan.stdout = Stdout::Piped;
        plan.grace = Duration::ZERO;
        plan.limits =
            Limits { memory: Some(ADDRESSES), file_size: Some(0), open_files: Some(32), ..Limits::default() };
        let mut child = launcher.start(plan).await.map_err(|fault| missing().absorbing(fault))?;
        let (input, output) = child.take_input().zip(child.take_output()).ok_or_else(missing)?;
        let mut talk = SolverProcess { input, output, received: Vec::new(), uses: 0, _child: child };
        let until = Instant::now() + START;
        // Reset like a used solver, because the same queries must cost the same.
        timeout_at(until.into(), talk.ask(AFRESH)).await.ok().flatten().ok_or_else(missing)?;
        Ok(talk)
    }

    /// Reads output up to the marker line.
    async fn ask(&mut self, commands: &str) -> Option<String> {
        let whole = [commands, END].concat();
        // The solver may write before it has read everything, so reading and writing run concurrently.
        let (input, output, received) = (&mut self.input, &mut self.output, &mut self.received);
        let write = async { input.write_all(whole.as_bytes()).await.ok() };
        let read = async {
            received.clear();
            while !received.ends_with(MARK) {
                if received.len() > LONGEST || output.read_buf(received).await.ok()? == 0 {
                    return None;
                }
            }
            received.truncate(received.len() - MARK.len());
            String::from_utf8(std::mem::take(received)).ok()
        };
        let (written, answer) = tokio::join!(write, read);
        written.and(answer)
    }
}

/// A solver leased to one analysis. Dropping it returns it to the pool.
pub(crate) struct SolverLease {
    talk: Option<SolverProcess>,
    pool: SolverPool,
}

impl SolverLease {
    /// Sends commands and returns the output. `None` if the solver has ended or the deadline passed. It is
    /// unusable then.
    pub(crate) async fn ask(&mut self, commands: &str, deadline: Instant) -> Option<String> {
        // A solver that did not respond in time, or was cancelled, is still busy with the query and is
        // discarded.
        let mut talk = self.talk.take()?;
        let answer = timeout_at(deadline.into(), talk.ask(commands)).await.ok().flatten()?;
        self.talk = Some(talk);
        Some(answer)
    }
}

impl Drop for SolverLease {
    fn drop(&mut self) {
        if let Some(talk) = self.talk.take() {
            let pool = self.pool.clone();
            tokio::spawn(async move { pool.take_back(talk).await });
        }
    }
}
