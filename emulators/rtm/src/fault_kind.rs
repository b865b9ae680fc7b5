//! The kinds of faults that can be injected.

use std::time::Duration;

use failwell_emulator_http::Fault as GenericFault;
use serde::{Deserialize, Serialize};

/// A fault to inject, as the control routes and tests ask for it.
pub type Fault = GenericFault<FaultKind>;

/// The faults that can be injected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FaultKind {
    /// HTTP 503 with a page for people.
    Unavailable,
    /// Another HTTP status with a page for people.
    Status { status: u16 },
    /// A refusal of the service, such as 105.
    Refuse {
        code: u32,
        #[serde(default)]
        message: String,
    },
    /// The connection is reset.
    Reset,
    /// HTTP 200 with a page for people.
    Html,
    /// The answer is cut off in the middle, and the connection with it.
    Truncate,
    /// The answer begins late.
    Delay {
        /// How late.
        milliseconds: u64,
    },
    /// The answer takes long to come, in small pieces.
    SlowBody {
        /// How long.
        milliseconds: u64,
    },
    /// Lists of one become that one, and single things lists.
    Flip,
    /// Unknown members in every object.
    UnknownFields,
}

impl FaultKind {
    pub(crate) fn label(&self) -> String {
        match self {
            FaultKind::Unavailable => "503".to_owned(),
            FaultKind::Status { status } => status.to_string(),
            FaultKind::Refuse { code, .. } => code.to_string(),
            FaultKind::Reset => "reset".to_owned(),
            FaultKind::Html => "html".to_owned(),
            FaultKind::Truncate => "truncate".to_owned(),
            FaultKind::Delay { .. }
            | FaultKind::SlowBody { .. }
            | FaultKind::Flip
            | FaultKind::UnknownFields => "ok".to_owned(),
        }
    }

    pub(crate) fn replaces_answer(&self) -> bool {
        !matches!(
            self,
            FaultKind::Delay { .. } | FaultKind::SlowBody { .. } | FaultKind::Flip | FaultKind::UnknownFields
        )
    }

    pub(crate) fn wait(&self) -> Duration {
        match self {
            FaultKind::Delay { milliseconds } | FaultKind::SlowBody { milliseconds } => {
                Duration::from_millis((*milliseconds).min(600_000))
            }
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, FaultKind};

    #[test]
    fn a_fault_is_read_from_json() {
        let fault: Fault =
            serde_json::from_str(r#"{"kind": "refuse", "code": 105, "times": 2, "stage": "after"}"#).unwrap();
        assert_eq!(fault.kind, FaultKind::Refuse { code: 105, message: String::new() });
        assert_eq!(fault.times, Some(2));
    }
}
