//! The protocol between launcher and supervisor over their socket. The launcher first sends the request with
//! the descriptors. Then commands go one way and reports the other, one JSON line each.

use std::ffi::OsString;
use std::time::Duration;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::sandbox::Confinement;
use crate::{Exit, ExitCause, Input, Limits, Plan, Sandbox, Signal};

/// Maximum size of a request, far above the system's limit for arguments and environment.
pub(crate) const MAX_REQUEST_BYTES: u32 = 64 * 1024 * 1024;

/// Maximum length of a line.
pub(crate) const MAX_LINE_BYTES: usize = 64 * 1024;

/// The plan in the form for the supervisor. The descriptors accompany it in this order: input if piped,
/// output, error output, events if named.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SpawnRequest {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) folder: OsString,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) input: Input,
    pub(crate) events: Option<OsString>,
    pub(crate) limits: Limits,
    pub(crate) grace: Duration,
    pub(crate) confinement: Option<Confinement>,
}

impl From<Plan> for SpawnRequest {
    fn from(plan: Plan) -> SpawnRequest {
        SpawnRequest {
            program: plan.program.into_os_string(),
            arguments: plan.arguments,
            folder: plan.folder.into_os_string(),
            environment: plan.environment.into_pairs(),
            input: plan.input,
            events: plan.events,
            limits: plan.limits,
            grace: plan.grace,
            confinement: match plan.sandbox {
                Sandbox::None => None,
                Sandbox::Profile(profile) => Some(profile.into()),
            },
        }
    }
}

/// A message of the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum SupervisorCommand {
    /// Send a signal to the child.
    Signal(Signal),
    /// Send SIGTERM to the child, and kill it after this time.
    Stop(Duration),
}

/// A message of the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum SupervisorReport {
    /// The child runs under this pid.
    Started(i32),
    /// The child could not be started.
    Refused(SpawnError),
    /// The child and all of its descendants have ended.
    Exited { how: ExitCause, exit: Option<Exit>, survivors: u32 },
}

/// The reason why a child could not be started.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SpawnError {
    pub(crate) step: SpawnStep,
    /// The system's error number, if any.
    pub(crate) errno: Option<i32>,
    /// The system's error text, for the operator.
    pub(crate) message: String,
}

/// The failed step of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SpawnStep {
    /// The supervisor could not initialize itself.
    Supervisor,
    /// The folder does not exist or is not a folder.
    Folder,
    /// The sandbox is unavailable.
    Sandbox,
    /// The sandbox has writable folders, but private mounts are unavailable.
    Mounts,
    /// The program does not exist or cannot be executed.
    Program,
}

impl SpawnError {
    pub(crate) fn new(step: SpawnStep, error: &std::io::Error) -> SpawnError {
        // The standard library refuses a value with a NUL byte itself. The error is the same as the system's.
        let unseen = (error.kind() == std::io::ErrorKind::InvalidInput).then(|| Errno::INVAL.raw_os_error());
        SpawnError { step, errno: error.raw_os_error().or(unseen), message: error.to_string() }
    }
}

/// Serializes a message as one line with its line break.
pub(crate) fn line(letter: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(letter)?;
    line.push(b'\n');
    Ok(line)
}

/// Removes the first complete line from the buffer. An invalid or too long line is an error.
pub(crate) fn take_line<T: for<'a> Deserialize<'a>>(arrived: &mut Vec<u8>) -> std::io::Result<Option<T>> {
    let Some(end) = arrived.iter().position(|byte| *byte == b'\n') else {
        let fits = arrived.len() <= MAX_LINE_BYTES;
        return if fits { Ok(None) } else { Err(std::io::Error::other("a line without end")) };
    };
    let line: Vec<u8> = arrived.drain(..=end).collect();
    Ok(Some(serde_json::from_slice(&line)?))
}
