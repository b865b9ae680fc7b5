use super::category::Category;
use super::settings::Action;

/// Something a guard found: what and where, never the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is.
    pub category: Category,
    /// What its guard is set to do.
    pub action: Action,
    /// The string it is in, as a JSON Pointer. Names a stranger chose, and names that hold a finding, are `_`.
    pub place: String,
    /// How often it is there.
    pub count: usize,
}

/// What all guards together say of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was found.
    Pass,
    /// Something was found that may pass.
    Noted {
        /// What.
        findings: Vec<Finding>,
    },
    /// Something was taken out.
    Redacted {
        /// The message without it.
        bytes: Vec<u8>,
        /// What.
        findings: Vec<Finding>,
    },
    /// The message may not pass. This holds whatever other guards would have taken out.
    Blocked {
        /// Why; those that block come first.
        findings: Vec<Finding>,
    },
}
