use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Environment, Sandbox};

/// A complete description of a child. The child gets nothing else.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The program: an absolute path, or a bare name that is searched in the planned `PATH`.
    pub program: PathBuf,
    /// The arguments, without the program name.
    pub arguments: Vec<OsString>,
    /// The working folder.
    pub folder: PathBuf,
    /// The complete environment.
    pub environment: Environment,
    pub input: Input,
    /// The destination of standard output. Standard error is always collected.
    pub stdout: Stdout,
    /// The variable that contains the descriptor number of an additional pipe for events. `None` means no
    /// pipe.
    pub events: Option<OsString>,
    pub limits: Limits,
    /// The grace period between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// The amount of output to store.
    pub output: Caps,
    pub sandbox: Sandbox,
}

impl Plan {
    /// A plan with a program and a folder: no arguments, environment, input or limits.
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

    #[must_use]
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Plan {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }
}

/// The standard input of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Closed: the child reads end of file at once.
    Nothing,
    /// A pipe, available through [`Child::take_input`](crate::Child::take_input).
    Pipe,
}

/// The destination of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdout {
    /// Drained and stored as head and tail.
    Collected,
    /// A pipe, available through [`Child::take_output`](crate::Child::take_output), for protocols such as MCP
    /// over stdio. The caller must drain it.
    Piped,
}

/// Resource limits of a child. `None` keeps the system's limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time. When it is over the child gets SIGTERM, and SIGKILL after the grace period.
    pub wall: Option<Duration>,
    /// CPU time of each process. The kernel sends SIGXCPU at the limit.
    pub cpu: Option<Duration>,
    /// Address space of each process, in bytes.
    pub memory: Option<u64>,
    /// Size of each written file, in bytes.
    pub file_size: Option<u64>,
    /// Open descriptors of each process.
    pub open_files: Option<u64>,
    /// Processes at the same time: the child and all of its descendants together.
    pub processes: Option<u64>,
}

/// The number of stored bytes of each output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// At the beginning.
    pub head: usize,
    /// At the end.
    pub tail: usize,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps { head: 64 * 1024, tail: 192 * 1024 }
    }
}
