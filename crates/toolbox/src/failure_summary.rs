use failwell_fault::Fault;
use schemars::JsonSchema;
use serde::Serialize;

/// The failure of one of several steps, as a member of a result.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Trouble", description = "Why one failed.")]
pub struct FailureSummary {
    reason: &'static str,
    detail: String,
    hint: String,
    effect: &'static str,
}

impl FailureSummary {
    /// One line: what is wrong, and the reason.
    pub fn line(&self) -> String {
        format!("{} [{}]", self.detail, self.reason)
    }
}

impl From<&Fault> for FailureSummary {
    fn from(fault: &Fault) -> FailureSummary {
        FailureSummary {
            reason: fault.reason().id,
            detail: fault.detail(),
            hint: fault.hint(),
            effect: fault.effect().as_str(),
        }
    }
}
