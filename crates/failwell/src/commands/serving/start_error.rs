use failwell_fault::{Fault, reason};

use super::serve;
use crate::complaint::Complaint;

/// Why a configuration cannot be served.
pub(super) enum StartError {
    /// A guard does not work. The first request is answered with the fault.
    Plugin(Box<Fault>),
    Complaint(Complaint),
}

impl StartError {
    pub(super) fn of(fault: Fault) -> StartError {
        match *fault.reason() == reason::CONFIG_PLUGIN {
            true => StartError::Plugin(Box::new(fault)),
            false => StartError::Complaint(serve::unexpected(&fault)),
        }
    }
}

impl From<StartError> for Complaint {
    fn from(error: StartError) -> Complaint {
        match error {
            StartError::Plugin(fault) => plugin_complaint(&fault),
            StartError::Complaint(complaint) => complaint,
        }
    }
}

/// What the operator reads at the terminal about a guard that does not work.
pub(super) fn plugin_complaint(fault: &Fault) -> Complaint {
    Complaint::new(
        fault.operator().to_string().trim_end(),
        "correct `command` of the guard: it must answer one line of JSON with one verdict; `critical = false` starts without it",
    )
}
