use super::category::Category;
use super::settings::Action;

/// One finding of a guard: its category and place, never the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardFinding {
    pub category: Category,
    /// The configured action of the guard.
    pub action: Action,
    /// The string that contains the finding, as a JSON Pointer. Names that an upstream chose or
    /// that contain a finding are `_`.
    pub place: String,
    /// Number of matches in this place.
    pub count: usize,
}

/// The combined decision of all guards on a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    /// The message passes unchanged; the findings are recorded.
    Noted {
        findings: Vec<GuardFinding>,
    },
    /// The message passes after redaction.
    Redacted {
        bytes: Vec<u8>,
        findings: Vec<GuardFinding>,
    },
    /// The message is blocked, even if other guards would only redact it.
    Blocked {
        /// Blocking findings come first.
        findings: Vec<GuardFinding>,
    },
}
