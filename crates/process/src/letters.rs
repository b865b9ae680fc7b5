//! What launcher and supervisor tell each other over their socket: first the errand with the descriptors, then orders
//! one way and reports the other, one JSON line each.

use std::ffi::OsString;
use std::time::Duration;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::sandbox::Confinement;
use crate::{Exit, How, Input, Limits, Plan, Sandbox, Signal};

/// The largest errand, far above what the system lets a program start with.
pub(crate) const LARGEST_ERRAND: u32 = 64 * 1024 * 1024;

/// The longest line of either side.
pub(crate) const LONGEST_LINE: usize = 64 * 1024;

/// A plan as the supervisor needs it. Descriptors come beside it, in this order: input if piped, output, error output,
/// events if named.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Errand {
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

impl From<Plan> for Errand {
    fn from(plan: Plan) -> Errand {
        Errand {
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

/// From the launcher.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Send the child a signal.
    Signal(Signal),
    /// Ask the child to end, and kill it after this long.
    Stop(Duration),
}

/// From the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The child runs.
    Started(i32),
    /// The child does not start.
    Refused(Refusal),
    /// The child and everything it started is gone.
    Ended { how: How, exit: Option<Exit>, survivors: u32 },
}

/// Why a child does not start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) step: Step,
    /// The system's error number, where it gave one.
    pub(crate) errno: Option<i32>,
    /// The system's words, for the operator.
    pub(crate) said: String,
}

/// Where on the way to a running child it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// The supervisor could not set itself up.
    Supervisor,
    /// The folder is not there or not a folder.
    Folder,
    /// The sandbox is not to be had here.
    Sandbox,
    /// The sandbox has writable folders, and mounts of the child's own are not to be had here.
    Mounts,
    /// The program is not there or does not run.
    Program,
}

impl Refusal {
    pub(crate) fn new(step: Step, error: &std::io::Error) -> Refusal {
        // A value with a NUL in it is refused before the system sees it, which would say the same.
        let unseen = (error.kind() == std::io::ErrorKind::InvalidInput).then(|| Errno::INVAL.raw_os_error());
        Refusal { step, errno: error.raw_os_error().or(unseen), said: error.to_string() }
    }
}

/// One line, with its end.
pub(crate) fn line(letter: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(letter)?;
    line.push(b'\n');
    Ok(line)
}

/// Takes the first whole line out of what has arrived. `Err` when there is a line no reader of ours wrote.
pub(crate) fn take_line<T: for<'a> Deserialize<'a>>(arrived: &mut Vec<u8>) -> std::io::Result<Option<T>> {
    let Some(end) = arrived.iter().position(|byte| *byte == b'\n') else {
        let fits = arrived.len() <= LONGEST_LINE;
        return if fits { Ok(None) } else { Err(std::io::Error::other("a line without end")) };
    };
    let line: Vec<u8> = arrived.drain(..=end).collect();
    Ok(Some(serde_json::from_slice(&line)?))
}
