//! Engine processes on the server side: start, communication, and the cause of a loss.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_process::{
    Child, ChildExit, Environment, ExitCause, Input, InputWriter, Launcher, Limits, OutputReader, Plan,
    Profile, Sandbox, SandboxNeed, Signal, Stdout,
};
use parking_lot::{Mutex, MutexGuard};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::out_of_memory;
use crate::engine::ENGINE_ARGUMENT;
use crate::engine::protocol::{self, FromEngine, ToEngine};
use crate::memory::OUT_OF_MEMORY;
use crate::reason;

/// Maximum number of idle engines.
const IDLE: usize = super::AT_ONCE;
/// Address space beyond the memory limit: the program itself, the deep stack, and reserved but unused memory.
const BESIDE: u64 = 1536 << 20;
/// Maximum time until the exit of a lost engine is known.
const ENDING: Duration = Duration::from_secs(2);

/// A pool of warm engine processes. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct EnginePool {
    launcher: Launcher,
    memory_mb: u64,
    idle: Arc<Mutex<Vec<EngineProcess>>>,
}

impl EnginePool {
    pub(super) fn new(launcher: Launcher, memory_mb: u64) -> EnginePool {
        EnginePool { launcher, memory_mb, idle: Arc::default() }
    }

    /// An idle engine, or a new one.
    pub(super) async fn take(&self) -> Result<EngineProcess, Fault> {
        let idle = self.idle().pop();
        match idle {
            Some(engine) => Ok(engine),
            None => EngineProcess::start(&self.launcher, self.memory_mb).await,
        }
    }

    /// Returns an engine to the pool.
    pub(super) fn keep(&self, engine: EngineProcess) {
        let mut idle = self.idle();
        if idle.len() < IDLE {
            idle.push(engine);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<EngineProcess>> {
        self.idle.lock()
    }
}

/// A running engine process. Dropping it kills the process.
#[derive(Debug)]
pub(super) struct EngineProcess {
    input: InputWriter,
    output: OutputReader,
    arrived: Vec<u8>,
    child: Child,
    memory_mb: u64,
}

pub(super) enum EngineLoss {
    /// It exceeded the memory limit.
    Memory(Fault),
    /// It crashed. A repetition would crash too.
    Crash(Fault),
    /// It was killed from outside.
    Killed(Fault),
}

impl EngineProcess {
    async fn start(launcher: &Launcher, memory_mb: u64) -> Result<EngineProcess, Fault> {
        let unusable = || Fault::new(&reason::SYMBOLIC_FAILED);
        let mut plan =
            Plan::new(launcher.program(), "/").arguments([ENGINE_ARGUMENT.to_owned(), memory_mb.to_string()]);
        plan.environment = Environment::empty();
        plan.input = Input::Pipe;
        plan.stdout = Stdout::Piped;
        plan.grace = Duration::ZERO;
        // The engine stops at the limit, and ends itself at one and a half times the limit. This is the last
        // resort.
        let addresses = (memory_mb << 20).saturating_mul(2).saturating_add(BESIDE);
        plan.limits =
            Limits { memory: Some(addresses), file_size: Some(0), open_files: Some(16), ..Limits::default() };
        plan.sandbox = Sandbox::Profile(profile(launcher));
        let mut child = launcher.start(plan).await.map_err(|fault| unusable().absorbing(fault))?;
        let (input, output) = child.take_input().zip(child.take_output()).ok_or_else(unusable)?;
        Ok(EngineProcess { input, output, arrived: Vec::new(), child, memory_mb })
    }

    pub(super) async fn send(&mut self, message: &ToEngine) -> io::Result<()> {
        self.input.write_all(&protocol::frame(message)?).await
    }

    pub(super) async fn receive(&mut self) -> io::Result<FromEngine<'static>> {
        loop {
            if let Some(header) = self.arrived.first_chunk::<4>() {
                let end = protocol::parse_header(*header)? + 4;
                if self.arrived.len() >= end {
                    let message = protocol::parse(self.arrived.get(4..end).unwrap_or_default());
                    self.arrived.drain(..end);
                    return message;
                }
            }
            if self.output.read_buf(&mut self.arrived).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// The cause of its end. An engine that sent an invalid message and still runs is ended.
    pub(super) async fn loss(mut self) -> EngineLoss {
        drop(self.input);
        let ended = match tokio::time::timeout(ENDING, self.child.wait()).await {
            Ok(ended) => ended,
            Err(_) => self.child.stop(Duration::ZERO).await,
        };
        classify(&ended, self.memory_mb)
    }
}

fn classify(ended: &ChildExit, memory_mb: u64) -> EngineLoss {
    let stderr = ended.output.stderr.to_bytes();
    let fault =
        |fault: Fault| fault.note("engine", format!("{:?}", ended.how)).capture("stderr", stderr.clone());
    let memory = || EngineLoss::Memory(fault(out_of_memory(memory_mb)));
    let failed = || fault(Fault::new(&reason::SYMBOLIC_FAILED).fact("error_type", "RuntimeError"));
    match ended.how {
        ExitCause::Code(code) if code == i32::from(OUT_OF_MEMORY) => memory(),
        // Rust prints this before it aborts because of a failed allocation.
        ExitCause::Signal(_) if contains(&stderr, b"memory allocation of") => memory(),
        ExitCause::Signal(Signal::KILL | Signal::TERM | Signal::INT | Signal::HUP)
        | ExitCause::Stopped
        | ExitCause::Lost => EngineLoss::Killed(failed()),
        _ => EngineLoss::Crash(failed()),
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// The program and its linked libraries. `/proc` reports its memory.
fn profile(launcher: &Launcher) -> Profile {
    let places = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/proc"].map(PathBuf::from);
    let mut read = vec![launcher.program().to_owned()];
    read.extend(places);
    Profile { read, need: SandboxNeed::BestEffort, ..Profile::closed() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use failwell_process::{CapturedOutput, ChildExit, ExitCause, Output, Signal};

    use super::{EngineLoss, classify};
    use crate::memory::OUT_OF_MEMORY;

    fn lost(how: ExitCause, stderr: &str) -> EngineLoss {
        let stderr = CapturedOutput { head: stderr.into(), tail: Vec::new(), total: stderr.len() as u64 };
        let output = Output { stdout: CapturedOutput::default(), stderr };
        classify(&ChildExit { how, exit: None, output, took: Duration::ZERO, survivors: 0 }, 64)
    }

    #[test]
    fn an_engine_out_of_memory_is_distinguished_from_a_crash_or_a_kill() {
        let abort = ExitCause::Signal(Signal::parse("ABRT").expect("known"));
        let EngineLoss::Memory(fault) = lost(ExitCause::Code(OUT_OF_MEMORY.into()), "") else {
            panic!("its own end")
        };
        assert_eq!(fault.reason().id, "symbolic/MEMORY");
        assert_eq!(fault.detail(), "Analysis needed more than 64 MB of memory");
        assert!(matches!(lost(abort, "memory allocation of 9000 bytes failed\n"), EngineLoss::Memory(_)));
        assert!(matches!(lost(abort, "thread 'analysis' has overflowed its stack\n"), EngineLoss::Crash(_)));
        assert!(matches!(lost(ExitCause::Code(1), ""), EngineLoss::Crash(_)));
        assert!(matches!(lost(ExitCause::Signal(Signal::KILL), ""), EngineLoss::Killed(_)));
    }
}
