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
    /// There is never an answer, and the connection stays open.
    Hang,
    /// WebDriverAgent dies: every connection is reset, and the port is closed.
    Die,
    /// The connection is reset.
    Reset,
    /// The answer is cut off in the middle, and the connection with it.
    Truncate,
    /// The answer begins late.
    Delay {
        /// How late.
        milliseconds: u64,
    },
    /// HTTP 502 with a page for people, as a proxy in between would send.
    Html,
    /// An error of the standard.
    Refuse {
        /// Its name, such as `timeout`.
        error: String,
        #[serde(default)]
        message: String,
        #[serde(default = "internal")]
        status: u16,
    },
    /// The system asks for a permission just before the command.
    Alert,
    /// Every element found so far is gone just before the command.
    Stale,
    /// The session is gone just before the command.
    Expire,
    /// Screenshots are this many bytes larger than they have to be.
    LargeScreenshot {
        /// How many.
        bytes: usize,
    },
}

fn internal() -> u16 {
    500
}

impl FaultKind {
    /// The outcome in the call log; `None` when the command's own outcome is logged.
    pub(crate) fn label(&self) -> Option<&str> {
        match self {
            FaultKind::Hang => Some("hang"),
            FaultKind::Die => Some("die"),
            FaultKind::Reset => Some("reset"),
            FaultKind::Html => Some("html"),
            FaultKind::Refuse { error, .. } => Some(error),
            FaultKind::Truncate
            | FaultKind::Delay { .. }
            | FaultKind::Alert
            | FaultKind::Stale
            | FaultKind::Expire
            | FaultKind::LargeScreenshot { .. } => None,
        }
    }

    pub(crate) fn replaces_answer(&self) -> bool {
        self.label().is_some()
    }

    pub(crate) fn wait(&self) -> Duration {
        match self {
            FaultKind::Delay { milliseconds } => Duration::from_millis((*milliseconds).min(600_000)),
            _ => Duration::ZERO,
        }
    }
}
