//! Failures of tools: a fault, optionally with further content.

use failwell_fault::{Echo, Fault};
use failwell_sdk::{Content, Json, ToolOutcome, TypedOutcome};
use serde::Serialize;
use serde_json::{Value, json};

use crate::reason;

#[derive(Debug)]
pub(crate) enum ToolFailure {
    Fault(Fault),
    /// A fault with its own text and object.
    Shown(Fault, String, Value),
}

impl From<Fault> for ToolFailure {
    fn from(fault: Fault) -> ToolFailure {
        ToolFailure::Fault(fault)
    }
}

impl ToolFailure {
    /// The outcome for the caller.
    pub(crate) fn outcome<O: Serialize>(self) -> Result<TypedOutcome<O>, Fault> {
        match self {
            ToolFailure::Fault(fault) => Err(fault),
            ToolFailure::Shown(fault, text, data) => {
                let object = json!({"error": fault.reason().id, "data": data});
                let shown = ToolOutcome::default().structured(Json::from(&object));
                let shown = if text.is_empty() { shown } else { shown.with(Content::text(text)) };
                Ok(TypedOutcome::failure(shown, fault))
            }
        }
    }

    /// The fault without the candidates.
    pub(crate) fn fault(self) -> Fault {
        match self {
            ToolFailure::Fault(fault) | ToolFailure::Shown(fault, ..) => fault,
        }
    }
}

/// The failure of an unusable value.
pub(crate) fn invalid(field: &'static str, why: &'static str, help: &'static str) -> ToolFailure {
    ToolFailure::Fault(
        Fault::new(&reason::TASKS_INVALID_VALUE).fact("field", field).fact("why", why).fact("help", help),
    )
}

/// Text of the caller in a fault.
pub(crate) fn echo(text: &str) -> Echo {
    Echo::of_caller(text)
}
