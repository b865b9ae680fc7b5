use std::path::PathBuf;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, OrFault, Ref, reason};
use failwell_process::{
    Child, Environment, Input, InputWriter, Launcher, Limits, Need, Network, OutputReader, Plan, Profile,
    Sandbox, Stdout, no_exec_filter,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{timeout, timeout_at};

use super::broken;
use super::letters::{Answer, Letter};
use super::python::Python;
use crate::ReplayProblem;

/// What the interpreter is handed: see its own first lines.
const PROGRAM: &str = concat!(
    include_str!("../../python/worker.py"),
    "\n",
    include_str!("../../python/watch.py"),
    "\n",
    include_str!("../../python/call.py")
);

/// How long a worker may take to import what it offers.
const START: Duration = Duration::from_secs(30);
/// How much later than the run's own limit an answer may come: the worker has to end the run first.
const GRACE: Duration = Duration::from_millis(400);
/// How long it may take to clear up after a run.
const CLEARING: Duration = Duration::from_secs(5);
/// No answer is longer.
const LONGEST: usize = 6 << 20;
/// Address space of a worker and of each run.
const MEMORY: u64 = 768 << 20;
/// The worker, the run, and a few that the run may start before it is ended.
const PROCESSES: u64 = 12;

/// A warm interpreter. Dropped, it goes, and everything it started.
#[derive(Debug)]
pub(super) struct Worker {
    input: InputWriter,
    output: OutputReader,
    heard: Vec<u8>,
    /// The answer came from the one that makes the next run.
    is_ready: bool,
    /// Held, not asked: when it goes, so does the worker.
    _child: Child,
}

impl Worker {
    /// Starts one, and waits until it is ready.
    pub(super) async fn start(
        launcher: &Launcher,
        python: &Python,
        need: Option<Need>,
    ) -> Result<Worker, Fault> {
        let unusable = || Fault::new(&reason::SYMBOLIC_NO_PYTHON);
        let folder = Gone::make().or_fault(&reason::SYMBOLIC_NO_PYTHON)?;
        let mut plan = Plan::new(&python.path, folder.path()).arguments(["-s", "-S", "-B", "-c", PROGRAM]);
        if let Some(filter) = need.and_then(|_| no_exec_filter()) {
            plan = plan.arguments([filter.iter().map(|byte| format!("{byte:02x}")).collect::<String>()]);
        }
        // Sets come in the same order every time; the worker forgets it before any code runs.
        plan.environment = Environment::empty().with("PYTHONHASHSEED", "0");
        plan.input = Input::Pipe;
        plan.stdout = Stdout::Piped;
        plan.grace = Duration::ZERO;
        plan.limits = Limits {
            memory: Some(MEMORY),
            file_size: Some(0),
            open_files: Some(32),
            processes: Some(PROCESSES),
            ..Limits::default()
        };
        plan.sandbox = need.map_or(Sandbox::None, |need| Sandbox::Profile(walls(python, need)));
        let mut child = launcher.start(plan).await.map_err(|fault| unusable().absorbing(fault))?;
        let (input, output) = child.take_input().zip(child.take_output()).ok_or_else(unusable)?;
        let mut worker = Worker { input, output, heard: Vec::new(), is_ready: false, _child: child };
        match timeout(START, worker.hear()).await {
            Ok(Ok(line)) if Answer::is_ready(&line) => Ok(worker),
            _ => {
                let ended = worker._child.stop(Duration::ZERO).await;
                Err(unusable().capture("stderr", ended.output.stderr.kept()))
            }
        }
    }

    /// One run, which is ended after this time.
    pub(super) async fn ask(&mut self, letter: Letter, limit: Duration) -> Result<Answer, Unanswered> {
        let mark = mark().ok_or(Unanswered::Broken("no randomness".to_owned()))?;
        let until = Instant::now() + limit + GRACE;
        let line = letter.line(limit, &mark);
        let exchange = async {
            self.input.write_all(line.as_bytes()).await.map_err(|error| error.to_string())?;
            self.hear().await
        };
        let line = match timeout_at(until.into(), exchange).await {
            Err(_) => return Err(Unanswered::Late),
            Ok(Err(why)) => return Err(Unanswered::Broken(why)),
            Ok(Ok(line)) => line,
        };
        let answer = Answer::parse(&line).filter(|answer| answer.is_for(&mark)).ok_or(Unanswered::Spoiled)?;
        // The run ended without one.
        self.is_ready = answer.comes_from_the_next();
        Ok(answer)
    }

    /// Whether it has cleared up after a run, with nobody left behind, and can make another.
    pub(super) async fn is_ready_again(&mut self) -> bool {
        self.is_ready
            || matches!(timeout(CLEARING, self.hear()).await, Ok(Ok(line)) if Answer::is_ready(&line))
    }

    async fn hear(&mut self) -> Result<Vec<u8>, String> {
        loop {
            if let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
                let rest = self.heard.split_off(end + 1);
                return Ok(std::mem::replace(&mut self.heard, rest));
            }
            if self.heard.len() > LONGEST {
                return Err("an answer without end".to_owned());
            }
            match self.output.read_buf(&mut self.heard).await {
                Ok(count) if count > 0 => {}
                Ok(_) => return Err("the worker is gone".to_owned()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

/// Why a run has no answer.
pub(super) enum Unanswered {
    /// Its time is up.
    Late,
    /// What came was no answer to it: whoever ran before is still talking.
    Spoiled,
    /// For the log.
    Broken(String),
}

impl Unanswered {
    pub(super) fn problem(self) -> ReplayProblem {
        match self {
            Unanswered::Late => ReplayProblem::TimedOut,
            Unanswered::Spoiled => broken("an answer that is none"),
            Unanswered::Broken(why) => broken(why),
        }
    }
}

/// Nobody can guess the next from those before: code that runs may know its own, and must not answer for others.
fn mark() -> Option<String> {
    let (high, low) = (getrandom::u64().ok()?, getrandom::u64().ok()?);
    Some(format!("{high:016x}{low:016x}"))
}

/// Python's own files, and the libraries it is linked with. No settings, no place to write, and so no mode, owner or date to
/// change either. Programs lie among the libraries; the worker gives up starting any.
fn walls(python: &Python, need: Need) -> Profile {
    let libraries =
        ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/urandom"].map(PathBuf::from);
    let mut read = python.places.clone();
    read.push(python.path.clone());
    read.extend(libraries);
    Profile { read, write: vec!["/dev/null".into()], network: Network::Closed, need }
}

/// A folder for a worker to start in. It is removed once the worker is there: nothing can be made in it any more.
struct Gone(PathBuf);

impl Gone {
    fn make() -> std::io::Result<Gone> {
        use std::os::unix::fs::DirBuilderExt;
        let path = std::env::temp_dir().join(format!("failwell-symbolic-{}", Ref::fresh()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Gone(path))
    }

    fn path(&self) -> &std::path::Path {
        &self.0
    }
}

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}
