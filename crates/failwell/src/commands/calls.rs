//! Clients at the terminal: `tools`, `call`, and the trial starts of `check`.

mod arguments;
mod call;
mod client;
pub(super) mod failure;
mod printing;
mod target;
mod tools;
pub(super) mod trial;

pub(super) use call::run as call;
pub(super) use tools::run as tools;

use std::process::ExitCode;

use crate::complaint::Complaint;
use crate::terminal;

/// The exit code for wrong usage.
const WRONG_USAGE: u8 = 2;
/// The shell convention for an interrupted program: 128 plus SIGINT.
const INTERRUPTED: u8 = 130;

/// Why a command did not succeed.
enum CallError {
    /// The command line does not fit the tool.
    Usage(Complaint),
    /// The server or the tool failed.
    Failed(Complaint),
}

impl From<Complaint> for CallError {
    fn from(complaint: Complaint) -> CallError {
        CallError::Failed(complaint)
    }
}

/// Runs a command until it ends or is interrupted. An interrupt cancels the call and ends a server that was started.
async fn until_interrupted(
    work: impl Future<Output = Result<ExitCode, CallError>>,
) -> Result<ExitCode, Complaint> {
    let done = tokio::select! {
        done = work => done,
        _ = tokio::signal::ctrl_c() => {
            terminal::end_progress();
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    terminal::end_progress();
    match done {
        Ok(code) => Ok(code),
        Err(CallError::Failed(complaint)) => Err(complaint),
        Err(CallError::Usage(complaint)) => {
            terminal::complain(&complaint);
            Ok(ExitCode::from(WRONG_USAGE))
        }
    }
}
