use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Environment, Sandbox};

/// Everything about a child before it starts. What is not named here it does not get.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The program: an absolute path, or a bare name that is looked up in the planned `PATH`.
    pub program: PathBuf,
    /// Its arguments, without the name of the program itself.
    pub arguments: Vec<OsString>,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// The whole environment.
    pub environment: Environment,
    /// What it reads.
    pub input: Input,
    /// Where its standard output goes. Standard error is always collected.
    pub stdout: Stdout,
    /// The variable that tells the child the number of one more pipe, to write events to. No name, no pipe.
    pub events: Option<OsString>,
    /// What it may use.
    pub limits: Limits,
    /// How long it has between being asked to end and being killed.
    pub grace: Duration,
    /// How much of its output is kept.
    pub output: Caps,
    /// What it may touch.
    pub sandbox: Sandbox,
}

impl Plan {
    /// A plan with nothing in it but the program and its folder: no arguments, no environment, no input, no limits.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Plan {
        Plan {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.into(),
            environment: Environment::default(),
            input: Input::Nothing,
            stdout: Stdout::Collected,
            events: None,
            limits: Limits::default(),
            grace: Duration::from_secs(2),
            output: Caps::default(),
            sandbox: Sandbox::None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Plan {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }
}

/// What a child reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Nothing: the end of the file, at once.
    Nothing,
    /// A pipe, taken with [`Child::take_input`](crate::Child::take_input).
    Pipe,
}

/// Where standard output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdout {
    /// Drained, and kept as head and tail.
    Collected,
    /// To whoever takes it with [`Child::take_output`](crate::Child::take_output), for protocols such as MCP over stdio.
    /// The reader has to keep up: nobody else drains it.
    Piped,
}

/// What a child may use. `None` is what the system gives anyway.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time on the clock. At the end of it the child is asked to end, and after the grace killed.
    pub wall: Option<Duration>,
    /// Time on the processor, for each process. The system ends it with SIGXCPU.
    pub cpu: Option<Duration>,
    /// Bytes of address space, for each process.
    pub memory: Option<u64>,
    /// Bytes of any one file it writes.
    pub file_size: Option<u64>,
    /// Open descriptors, for each process.
    pub open_files: Option<u64>,
    /// Processes alive at once, the child and all its descendants together.
    pub processes: Option<u64>,
}

/// How many bytes of each output are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// From the beginning.
    pub head: usize,
    /// From the end.
    pub tail: usize,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps { head: 64 * 1024, tail: 192 * 1024 }
    }
}
