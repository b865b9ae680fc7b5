//! The result of a tool, and the fault of an analysis without a verdict.

use failwell_fault::{Echo, Fault};
use failwell_sdk::{Content, Json, ToolOutcome};
use serde_json::{Map, Value};

use crate::analyse::report::Failure;
use crate::queue::{out_of_memory, timed_out, unknown_function};
use crate::reason;

/// The result of a tool: its object, the text for the model, and the fault of a failed call.
pub(crate) struct ToolReport {
    pub(crate) object: Map<String, Value>,
    pub(crate) text: String,
    pub(crate) fault: Option<Fault>,
}

impl ToolReport {
    /// Converts the report to the server's outcome.
    pub(crate) fn outcome(self) -> Result<ToolOutcome, Fault> {
        let object =
            Json::of(&self.object).map_err(|error| Fault::new(&reason::SERVER_BUG).because(error))?;
        let outcome = ToolOutcome::default().structured(object);
        let outcome = if self.text.is_empty() { outcome } else { outcome.with(Content::text(self.text)) };
        Ok(match self.fault {
            Some(fault) => outcome.failed(fault),
            None => outcome,
        })
    }
}

/// The arguments that a failure names.
pub(crate) struct FailureContext<'a> {
    pub(crate) function: &'a str,
    pub(crate) exception: &'a str,
    pub(crate) seconds: u32,
}

/// The fault of an analysis without a verdict.
pub(crate) fn fault(failure: &Failure, asked: &FailureContext<'_>) -> Fault {
    match failure {
        Failure::NoSuchFunction { known } => unknown_function(asked.function, known),
        Failure::Unsupported(what) => Fault::new(&reason::SYMBOLIC_UNSUPPORTED)
            .fact("construct", Echo::of_caller(&what.construct))
            .fact("line", what.line)
            .fact("error_type", "UnsupportedConstruct"),
        Failure::BudgetSpent => timed_out(asked.seconds),
        Failure::MemorySpent { limit_mb } => out_of_memory(*limit_mb),
        Failure::BoundHit => Fault::new(&reason::SYMBOLIC_BOUND).fact("error_type", "TimeoutError"),
        Failure::Vacuous => Fault::new(&reason::SYMBOLIC_VACUOUS).fact("error_type", "ValueError"),
        Failure::NoSuchException => Fault::new(&reason::SYMBOLIC_UNKNOWN_EXCEPTION)
            .fact("exception", Echo::of_caller(asked.exception))
            .fact("error_type", "ValueError"),
        Failure::NoSolver => Fault::new(&reason::SYMBOLIC_NO_SOLVER).fact("error_type", "RuntimeError"),
        Failure::ModuleRaises { class, line } => Fault::new(&reason::SYMBOLIC_MODULE_RAISES)
            .fact("exception", Echo::of_caller(class))
            .fact("line", *line)
            .fact("error_type", "ValueError"),
        Failure::Bug(story) => Fault::new(&reason::SYMBOLIC_FAILED)
            .fact("error_type", "RuntimeError")
            .note("engine", story.clone()),
    }
}

/// The status of a fault. Only `symbolic_check` has one for an exhausted budget.
pub(crate) fn status_of(fault: &Fault) -> &'static str {
    let out_of_budget = [&reason::SYMBOLIC_TIMEOUT, &reason::SYMBOLIC_BOUND, &reason::SYMBOLIC_MEMORY];
    if out_of_budget.iter().any(|known| *known == fault.reason()) { "timeout" } else { "error" }
}
