use serde::Serialize;

use super::checks::Check;

/// How a part of the machine was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// There, and good enough.
    Ok,
    /// There, but too old.
    Old,
    /// Not there, or not usable.
    Missing,
}

/// Who needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Need {
    /// The gateway itself.
    Main,
    /// One server or one feature.
    Extra,
}

/// What a check saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sight {
    pub(super) status: Status,
    pub(super) found: String,
}

impl Sight {
    pub(super) fn ok(found: impl Into<String>) -> Sight {
        Sight { status: Status::Ok, found: found.into() }
    }

    pub(super) fn old(found: impl Into<String>) -> Sight {
        Sight { status: Status::Old, found: found.into() }
    }

    pub(super) fn missing(found: impl Into<String>) -> Sight {
        Sight { status: Status::Missing, found: found.into() }
    }
}

/// A check with its result.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) name: &'static str,
    pub(crate) status: Status,
    pub(crate) need: Need,
    /// What was found.
    pub(crate) found: String,
    /// What it costs when it is missing.
    pub(crate) cost: &'static str,
    /// The command that fixes it here.
    pub(crate) fix: &'static str,
}

impl Finding {
    pub(super) fn new(check: &'static Check, sight: Sight) -> Finding {
        let Sight { status, found } = sight;
        Finding { name: check.name, status, need: check.need, found, cost: check.cost, fix: check.fix.here() }
    }
}
