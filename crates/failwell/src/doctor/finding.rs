use serde::Serialize;

use super::checks::MachineCheck;

/// The status of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// Present and recent enough.
    Ok,
    /// Present but too old.
    Old,
    /// Absent or unusable.
    Missing,
}

/// The importance of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Need {
    /// The gateway itself needs it.
    Main,
    /// One server or feature needs it.
    Extra,
}

/// The raw result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckOutcome {
    pub(super) status: Status,
    pub(super) found: String,
}

impl CheckOutcome {
    pub(super) fn ok(found: impl Into<String>) -> CheckOutcome {
        CheckOutcome { status: Status::Ok, found: found.into() }
    }

    pub(super) fn old(found: impl Into<String>) -> CheckOutcome {
        CheckOutcome { status: Status::Old, found: found.into() }
    }

    pub(super) fn missing(found: impl Into<String>) -> CheckOutcome {
        CheckOutcome { status: Status::Missing, found: found.into() }
    }
}

/// A check with its result.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) name: &'static str,
    pub(crate) status: Status,
    pub(crate) need: Need,
    /// A version, or the reason for the status.
    pub(crate) found: String,
    /// The consequence if it is missing.
    pub(crate) cost: &'static str,
    /// The command that fixes it on this machine.
    pub(crate) fix: &'static str,
}

impl Finding {
    pub(super) fn new(check: &'static MachineCheck, outcome: CheckOutcome) -> Finding {
        let CheckOutcome { status, found } = outcome;
        Finding { name: check.name, status, need: check.need, found, cost: check.cost, fix: check.fix.here() }
    }
}
