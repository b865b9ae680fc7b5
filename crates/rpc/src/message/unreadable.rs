use crate::id::Id;
use crate::scan::Defect;
use failwell_fault::{Fault, reason};

/// An invalid message, with its readable parts.
#[derive(Debug)]
pub struct UnreadableMessage {
    pub fault: Fault,
    /// The id, if it is readable. The caller waits for a response with it.
    pub id: Option<Id>,
    /// The assumed type. An invalid response is never answered, because its id belongs to our own request.
    pub about: MessageKind,
}

/// The assumed type of an invalid message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// A request or a notification: it has a `method`.
    Call,
    /// A response: it has a `result` or an `error` and no `method`.
    Answer,
    Unknown,
}

impl UnreadableMessage {
    pub(super) fn new(fault: Fault, id: Option<Id>, about: MessageKind) -> Self {
        Self { fault, id, about }
    }

    pub(super) fn of_defect(defect: Defect, id: Option<Id>, about: MessageKind) -> Self {
        Self::new(defect.fault(), id, about)
    }
}

impl Defect {
    /// The only place that maps a defect of the scan to a reason of the catalogue.
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
