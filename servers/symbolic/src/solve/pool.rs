//! Warm solvers: starting one takes longer than most of what it is asked.
//!
//! A solver that is given back is reset before it is lent again, so that nothing of one analysis is left for the next, and it
//! counts its steps from the beginning: the same questions cost the same, whoever asked before. Nobody waits for that.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, reason};
use failwell_process::{
    Child, Environment, Input, InputWriter, Launcher, Limits, OutputReader, Plan, Stdout,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout_at;

/// Solvers kept for the next analysis: two at once, each with two.
const IDLE: usize = 4;
/// Analyses after which a solver has served: whatever it holds on to goes with it.
const MOST_USES: u32 = 100;
/// Megabytes after which it gives up by itself, and bytes of address space after which the system does not give more.
const MEMORY: &str = "-memory:1024";
const ADDRESSES: u64 = 3 << 30;
/// How long a solver may take to start, or to forget.
const START: Duration = Duration::from_secs(10);
/// No answer is longer.
const LONGEST: usize = 16 << 20;
/// Forgets everything, and answers a first question ahead: that takes ten times as long as the next. Names outlive the
/// path they came up on.
const AFRESH: &str = "(reset)\n(set-option :global-declarations true)\n(declare-const |a first number| Int)\n\
    (push)\n(assert (> |a first number| 1))\n(check-sat)\n(pop)\n";
/// Said after every answer.
const END: &str = "(echo \"<end>\")\n";
const MARK: &[u8] = b"<end>\n";

/// The solvers of a server. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Solvers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    launcher: Launcher,
    idle: Mutex<Vec<Talk>>,
}

impl Solvers {
    /// A pool without solvers; they come when they are needed.
    pub(crate) fn new(launcher: Launcher) -> Solvers {
        Solvers(Arc::new(Inner { launcher, idle: Mutex::default() }))
    }

    /// A solver that knows nothing yet. `None` when there is none on this machine.
    pub(crate) async fn lend(&self) -> Option<Lent> {
        let talk = self.fresh().await.ok()?;
        Some(Lent { talk: Some(talk), pool: self.clone() })
    }

    /// Name and version, as results tell them.
    pub(crate) async fn version(&self) -> Option<String> {
        let mut talk = self.fresh().await.ok()?;
        let said = timeout_at((Instant::now() + START).into(), talk.ask("(get-info :version)\n")).await;
        let version = super::z3::version_in(&said.ok()??);
        self.take_back(talk).await;
        version
    }

    async fn fresh(&self) -> Result<Talk, Fault> {
        match self.take() {
            Some(talk) => Ok(talk),
            None => Talk::start(&self.0.launcher).await,
        }
    }

    /// One that was used forgets everything, and waits for the next.
    async fn take_back(&self, mut talk: Talk) {
        talk.uses += 1;
        let until = Instant::now() + START;
        if talk.uses <= MOST_USES
            && let Ok(Some(_)) = timeout_at(until.into(), talk.ask(AFRESH)).await
        {
            self.keep(talk);
        }
    }

    fn take(&self) -> Option<Talk> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep(&self, talk: Talk) {
        let mut idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(talk);
        }
    }
}

/// A running solver. Dropped, it goes.
#[derive(Debug)]
struct Talk {
    input: InputWriter,
    output: OutputReader,
    heard: Vec<u8>,
    uses: u32,
    /// Held, not asked: when it goes, so does the solver.
    _child: Child,
}

impl Talk {
    async fn start(launcher: &Launcher) -> Result<Talk, Fault> {
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
        let mut talk = Talk { input, output, heard: Vec::new(), uses: 0, _child: child };
        let until = Instant::now() + START;
        // As one that was used before: the same questions must cost the same.
        timeout_at(until.into(), talk.ask(AFRESH)).await.ok().flatten().ok_or_else(missing)?;
        Ok(talk)
    }

    /// What is said up to the mark.
    async fn ask(&mut self, commands: &str) -> Option<String> {
        let whole = [commands, END].concat();
        // The solver may speak before it has heard everything: neither side may wait for the other.
        let (input, output, heard) = (&mut self.input, &mut self.output, &mut self.heard);
        let write = async { input.write_all(whole.as_bytes()).await.ok() };
        let read = async {
            heard.clear();
            while !heard.ends_with(MARK) {
                if heard.len() > LONGEST || output.read_buf(heard).await.ok()? == 0 {
                    return None;
                }
            }
            heard.truncate(heard.len() - MARK.len());
            String::from_utf8(std::mem::take(heard)).ok()
        };
        let (written, said) = tokio::join!(write, read);
        written.and(said)
    }
}

/// A solver for one analysis, given back when dropped.
pub(crate) struct Lent {
    talk: Option<Talk>,
    pool: Solvers,
}

impl Lent {
    /// What it says to these commands. `None` when it is gone or the deadline passed: it is of no use then.
    pub(crate) async fn ask(&mut self, commands: &str, deadline: Instant) -> Option<String> {
        // One that did not answer in time, or was given up, is still busy with the question: it goes.
        let mut talk = self.talk.take()?;
        let said = timeout_at(deadline.into(), talk.ask(commands)).await.ok().flatten()?;
        self.talk = Some(talk);
        Some(said)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(talk) = self.talk.take() {
            let pool = self.pool.clone();
            tokio::spawn(async move { pool.take_back(talk).await });
        }
    }
}
