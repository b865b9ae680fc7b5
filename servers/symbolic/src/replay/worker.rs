use std::path::PathBuf;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use failwell_fault::{Fault, OrFault, Ref};
use failwell_process::{
    Child, Environment, Input, InputWriter, Launcher, Limits, Network, OutputReader, Plan, Profile, Sandbox,
    SandboxNeed, Stdout, no_exec_filter,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{timeout, timeout_at};

use super::broken;
use super::protocol::{WorkerRequest, WorkerResponse};
use super::python::Python;
use crate::ReplayProblem;
use crate::reason;

/// The worker's Python program. Its first lines describe the protocol.
const PROGRAM: &str = concat!(
    include_str!("../../python/worker.py"),
    "\n",
    include_str!("../../python/watch.py"),
    "\n",
    include_str!("../../python/call.py")
);

/// Maximum time for the imports of a worker.
const START: Duration = Duration::from_secs(30);
/// The time that a response may exceed the limit of its run, because the worker ends the run first.
const GRACE: Duration = Duration::from_millis(400);
/// Maximum time for the cleanup after a run.
const CLEARING: Duration = Duration::from_secs(5);
/// Maximum length of a response.
const LONGEST: usize = 6 << 20;
/// Address space of a worker and of each run.
const MEMORY: u64 = 768 << 20;
/// The worker, the run, and a few processes that the run may start before it is ended.
const PROCESSES: u64 = 12;

/// A warm interpreter. Dropping it kills the process and all of its descendants.
#[derive(Debug)]
pub(super) struct Worker {
    input: InputWriter,
    output: OutputReader,
    buffer: Vec<u8>,
    /// Whether the child for the next run sent the last response.
    is_ready: bool,
    /// Never read. Dropping it ends the worker.
    _child: Child,
}

impl Worker {
    /// Starts a worker and waits until it is ready.
    pub(super) async fn start(
        launcher: &Launcher,
        python: &Python,
        need: Option<SandboxNeed>,
    ) -> Result<Worker, Fault> {
        let unusable = || Fault::new(&reason::SYMBOLIC_NO_PYTHON);
        let folder = StartFolder::make().or_fault(&reason::SYMBOLIC_NO_PYTHON)?;
        let mut plan = Plan::new(&python.path, folder.path()).arguments(["-s", "-S", "-B", "-c", PROGRAM]);
        if let Some(filter) = need.and_then(|_| no_exec_filter()) {
            plan = plan.arguments([STANDARD.encode(filter)]);
        }
        // A fixed hash seed gives sets a fixed order. The worker clears the variable before it runs any code.
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
        plan.sandbox = need.map_or(Sandbox::None, |need| Sandbox::Profile(sandbox_profile(python, need)));
        let mut child = launcher.start(plan).await.map_err(|fault| unusable().absorbing(fault))?;
        let (input, output) = child.take_input().zip(child.take_output()).ok_or_else(unusable)?;
        let mut worker = Worker { input, output, buffer: Vec::new(), is_ready: false, _child: child };
        match timeout(START, worker.read_line()).await {
            Ok(Ok(line)) if WorkerResponse::is_ready(&line) => Ok(worker),
            _ => {
                let ended = worker._child.stop(Duration::ZERO).await;
                Err(unusable().capture("stderr", ended.output.stderr.to_bytes()))
            }
        }
    }

    /// One run with this time limit.
    pub(super) async fn ask(
        &mut self,
        request: WorkerRequest,
        limit: Duration,
    ) -> Result<WorkerResponse, RunError> {
        let nonce = generate_nonce().ok_or(RunError::Broken("no randomness".to_owned()))?;
        let until = Instant::now() + limit + GRACE;
        let line = request.line(limit, &nonce);
        let exchange = async {
            self.input.write_all(line.as_bytes()).await.map_err(|error| error.to_string())?;
            self.read_line().await
        };
        let line = match timeout_at(until.into(), exchange).await {
            Err(_) => return Err(RunError::Late),
            Ok(Err(why)) => return Err(RunError::Broken(why)),
            Ok(Ok(line)) => line,
        };
        let answer =
            WorkerResponse::parse(&line).filter(|answer| answer.is_for(&nonce)).ok_or(RunError::Spoiled)?;
        // The run ended without a response.
        self.is_ready = answer.is_from_next_child();
        Ok(answer)
    }

    /// Whether the worker has cleaned up after a run, without surviving processes, and can serve another
    /// request.
    pub(super) async fn is_ready_again(&mut self) -> bool {
        self.is_ready
            || matches!(timeout(CLEARING, self.read_line()).await, Ok(Ok(line)) if WorkerResponse::is_ready(&line))
    }

    async fn read_line(&mut self) -> Result<Vec<u8>, String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(end + 1);
                return Ok(std::mem::replace(&mut self.buffer, rest));
            }
            if self.buffer.len() > LONGEST {
                return Err("an answer without end".to_owned());
            }
            match self.output.read_buf(&mut self.buffer).await {
                Ok(count) if count > 0 => {}
                Ok(_) => return Err("the worker is gone".to_owned()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
}

pub(super) enum RunError {
    /// The time limit passed.
    Late,
    /// The line is not a response to this request: code of an earlier run is still writing.
    Spoiled,
    /// The text is for the log.
    Broken(String),
}

impl RunError {
    pub(super) fn problem(self) -> ReplayProblem {
        match self {
            RunError::Late => ReplayProblem::TimedOut,
            RunError::Spoiled => broken("an answer that is none"),
            RunError::Broken(why) => broken(why),
        }
    }
}

/// An unguessable nonce. Analysed code may learn the nonce of its own request, but must not be able to answer
/// others.
fn generate_nonce() -> Option<String> {
    let (high, low) = (getrandom::u64().ok()?, getrandom::u64().ok()?);
    Some(format!("{high:016x}{low:016x}"))
}

/// Python's own files and its linked libraries. There are no settings and no writable paths, so no mode,
/// owner or date can be changed either. The libraries' folders contain programs, but the worker gives up the
/// right to start any.
fn sandbox_profile(python: &Python, need: SandboxNeed) -> Profile {
    let libraries =
        ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/urandom"].map(PathBuf::from);
    let mut read = python.places.clone();
    read.push(python.path.clone());
    read.extend(libraries);
    Profile { read, write: vec!["/dev/null".into()], network: Network::Closed, need }
}

/// The working directory of a starting worker. It is removed once the worker runs, so that no file can be
/// created in it.
struct StartFolder(PathBuf);

impl StartFolder {
    fn make() -> std::io::Result<StartFolder> {
        use std::os::unix::fs::DirBuilderExt;
        let path = std::env::temp_dir().join(format!("failwell-symbolic-{}", Ref::fresh()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(StartFolder(path))
    }

    fn path(&self) -> &std::path::Path {
        &self.0
    }
}

impl Drop for StartFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}
