//! The tools: their arguments and results. Every member is present in every status.

mod analysis_kind;
mod branches;
mod check;
mod compare;
mod exception;
mod health;
mod tool_report;

pub(crate) use analysis_kind::AnalysisKind;
pub(crate) use branches::{BranchArguments, branches};
pub(crate) use check::{CheckArguments, check};
pub(crate) use compare::{CompareArguments, compare};
pub(crate) use exception::{ExceptionArguments, exceptions};
pub(crate) use health::health;
pub(crate) use tool_report::{ToolReport, status_of};

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::analyse::report::{Inputs, Proof};
use crate::engine::protocol::{AnalysisReport, Job};

/// The maximum time limit, in seconds.
pub(crate) const LONGEST: u32 = 300;

/// The default time limit, in seconds.
pub(crate) fn default_seconds() -> u32 {
    30
}

/// Describes a report to the caller. `None` if the report belongs to another analysis.
pub(crate) fn describe(job: &Job, report: &AnalysisReport, took: Duration) -> Option<ToolReport> {
    match (job, report) {
        (Job::Check(arguments), AnalysisReport::Check(report)) => Some(arguments.describe(report, took)),
        (Job::Exceptions(arguments), AnalysisReport::Exceptions(report)) => {
            Some(arguments.describe(report, took))
        }
        (Job::Compare(arguments), AnalysisReport::Compare(report)) => Some(arguments.describe(report, took)),
        (Job::Branches(arguments), AnalysisReport::Branches(report)) => {
            Some(arguments.describe(report, took))
        }
        _ => None,
    }
}

/// Members of a failed result that depend on the arguments only.
pub(crate) fn members_of_failure(job: &Job) -> Map<String, Value> {
    match job {
        Job::Branches(arguments) => Map::from_iter([("analysis_mode".to_owned(), json!(arguments.mode()))]),
        _ => Map::new(),
    }
}

/// The `proof` member of a result.
fn write_proof(proof: &Proof) -> Value {
    let unsupported: Vec<Value> =
        proof.unsupported.iter().map(|one| json!({"line": one.line, "construct": one.construct})).collect();
    json!({
        "exhaustive": proof.exhaustive,
        "paths": proof.paths,
        "bounds_hit": proof.bounds_hit,
        "unsupported": unsupported,
        "assumptions": proof.assumptions,
        "abstractions": proof.abstractions,
        "solver": proof.solver,
        "budget_used": {
            "interpreter_steps": proof.budget_used.interpreter_steps,
            "solver_queries": proof.budget_used.solver_queries,
            "solver_steps": proof.budget_used.solver_steps,
        },
        "replayed": proof.replayed,
        "mismatches": proof.mismatches,
    })
}

/// The positional and the keyword arguments, by name.
fn inputs(inputs: &Inputs) -> (Value, Value) {
    let object = |all: &[(String, crate::PyValue)]| {
        Value::Object(all.iter().map(|(name, value)| (name.clone(), value.to_json())).collect::<Map<_, _>>())
    };
    let (by_position, by_keyword) =
        inputs.args.split_at_checked(inputs.positional).unwrap_or((inputs.args.as_slice(), &[]));
    (object(by_position), object(by_keyword))
}

/// The call as Python source.
pub(crate) fn format_call(function: &str, inputs: &Inputs) -> String {
    let one = |(place, (name, value)): (usize, &(String, crate::PyValue))| {
        if place < inputs.positional { value.to_literal() } else { format!("{name}={}", value.to_literal()) }
    };
    let arguments: Vec<String> = inputs.args.iter().enumerate().map(one).collect();
    format!("{function}({})", arguments.join(", "))
}

/// Text of the caller's own code, in a separate block.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}
