use crate::id::Id;
use crate::scan::Defect;
use failwell_fault::{Fault, reason};

/// Bytes that are no message, and what could be read of them.
#[derive(Debug)]
pub struct Misread {
    /// Why.
    pub fault: Fault,
    /// The id, whenever it could be read: the caller is waiting under it.
    pub id: Option<Id>,
    /// What it seemed to be. A broken answer is never answered: its id is one of ours.
    pub about: About,
}

/// What a misread message seemed to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// A request or a notification: it has a `method`.
    Call,
    /// A response: it has a `result` or an `error` and no `method`.
    Answer,
    /// Nothing recognisable.
    Unknown,
}

impl Misread {
    pub(super) fn new(fault: Fault, id: Option<Id>, about: About) -> Self {
        Self { fault, id, about }
    }

    pub(super) fn of_defect(defect: Defect, id: Option<Id>, about: About) -> Self {
        Self::new(defect.fault(), id, about)
    }
}

impl Defect {
    /// The only place where a defect of the scan becomes a reason of the catalogue.
    pub fn fault(self) -> Fault {
        let row = match self {
            Defect::Syntax { .. } => &reason::RPC_NOT_JSON,
            Defect::Utf8 { .. } => &reason::RPC_NOT_UTF8,
            Defect::Depth { .. } => &reason::RPC_TOO_DEEP,
            Defect::DuplicateKey { .. } => &reason::RPC_DUPLICATE_KEY,
            Defect::LoneSurrogate { .. } => &reason::RPC_LONE_SURROGATE,
            Defect::NumberRange { .. } => &reason::RPC_NUMBER_RANGE,
            Defect::TooManyKeys { .. } => &reason::RPC_TOO_MANY_KEYS,
            Defect::TooManyMessages { .. } => &reason::RPC_BAD_SHAPE,
        };
        let fault = Fault::new(row).fact("offset", self.offset());
        match self {
            Defect::Depth { limit, .. } | Defect::TooManyKeys { limit, .. } => fault.fact("limit", limit),
            Defect::TooManyMessages { limit, .. } => fault.fact("member", "batch").fact("limit", limit),
            _ => fault,
        }
    }
}
