//! Why a tool stops: a fault, or a fault with more to show than its words.

use failwell_fault::{Echo, Fault, reason};
use failwell_server::{Content, Json, ToolOutcome};
use serde_json::{Value, json};

/// Why a tool stops.
#[derive(Debug)]
pub(crate) enum Stop {
    Fault(Fault),
    /// With a text and an object of its own.
    Shown(Fault, String, Value),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

impl Stop {
    /// What the caller gets.
    pub(crate) fn outcome(self) -> Result<ToolOutcome, Fault> {
        match self {
            Stop::Fault(fault) => Err(fault),
            Stop::Shown(fault, text, data) => {
                let object = json!({"error": fault.reason().id, "data": data});
                let shown = ToolOutcome::default().structured(Json::from(&object));
                let shown = if text.is_empty() { shown } else { shown.with(Content::text(text)) };
                Ok(shown.failed(fault))
            }
        }
    }

    /// The fault, whatever else there is.
    pub(crate) fn fault(self) -> Fault {
        match self {
            Stop::Fault(fault) | Stop::Shown(fault, ..) => fault,
        }
    }
}

/// A value that cannot be used.
pub(crate) fn invalid(field: &'static str, why: &'static str, help: &'static str) -> Stop {
    Stop::Fault(
        Fault::new(&reason::TASKS_INVALID_VALUE).fact("field", field).fact("why", why).fact("help", help),
    )
}

/// Text of the caller in a fault.
pub(crate) fn echo(text: &str) -> Echo {
    Echo::of_caller(text)
}
