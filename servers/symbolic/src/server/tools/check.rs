use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::tool_report::{FailureContext, fault, status_of};
use super::{AnalysisKind, ToolReport, default_seconds, fenced, format_call, inputs};
use crate::analyse::Analysis;
use crate::analyse::report::{CheckReport, CheckVerdict, ContractSource, Counterexample};

/// What `symbolic_check` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckArguments {
    /// Python source with the function and what it uses; at most 64 KB.
    pub(crate) code: String,
    /// The function to check, at the top level of the code, or a method as Class.method.
    pub(crate) function_name: String,
    /// Seconds until the answer has to be there.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = 300))]
    pub(crate) timeout_seconds: u32,
}

pub(crate) fn check(analysis: &Analysis<'_>, asked: &CheckArguments) -> CheckReport {
    analysis.check(&asked.function_name)
}

impl CheckArguments {
    pub(crate) fn describe(&self, report: &CheckReport, took: Duration) -> ToolReport {
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("paths_explored", json!(report.paths_explored));
        put("paths_verified", json!(report.paths_verified));
        put("coverage_estimate", json!(report.coverage_estimate));
        put(
            "contracts",
            json!(report.contracts.iter().map(|source| source_name(*source)).collect::<Vec<_>>()),
        );
        put("vacuous", json!(report.vacuous));
        match &report.verdict {
            CheckVerdict::Verified if report.proof.exhaustive => {
                let object = AnalysisKind::Check.result("verified", members, took, &report.proof);
                ToolReport { object, text: verified(report), fault: None }
            }
            CheckVerdict::Counterexamples(found) => {
                let all: Vec<Value> =
                    found.iter().map(|one| counterexample(&self.function_name, one)).collect();
                members.insert("counterexamples".to_owned(), json!(all));
                let object = AnalysisKind::Check.result("counterexample", members, took, &report.proof);
                ToolReport { object, text: summarize(&self.function_name, found), fault: None }
            }
            CheckVerdict::Inconclusive(failure) | CheckVerdict::Failed(failure) => {
                let asked = FailureContext {
                    function: &self.function_name,
                    exception: "",
                    seconds: self.timeout_seconds,
                };
                let fault = fault(failure, &asked);
                let object = AnalysisKind::Check.failed_result(
                    status_of(&fault),
                    &fault,
                    members,
                    took,
                    &report.proof,
                );
                ToolReport { object, text: String::new(), fault: Some(fault) }
            }
            // A verdict is called verified only with a proof.
            CheckVerdict::Verified => {
                let bug =
                    crate::analyse::report::Failure::Bug("verified without an exhaustive proof".to_owned());
                let asked = FailureContext {
                    function: &self.function_name,
                    exception: "",
                    seconds: self.timeout_seconds,
                };
                let fault = fault(&bug, &asked);
                let object = AnalysisKind::Check.failed_result("error", &fault, members, took, &report.proof);
                ToolReport { object, text: String::new(), fault: Some(fault) }
            }
        }
    }
}

fn source_name(source: ContractSource) -> &'static str {
    match source {
        ContractSource::Docstring => "docstring",
        ContractSource::Asserts => "asserts",
        ContractSource::Icontract => "icontract",
        ContractSource::Deal => "deal",
        ContractSource::Implicit => "implicit",
    }
}

fn verified(report: &CheckReport) -> String {
    let mut text = format!("verified on all {} paths", report.proof.paths);
    if report.contracts.contains(&ContractSource::Implicit) {
        text.push_str(
            "; no contract was written, so what is verified is that no exception leaves the function",
        );
    }
    text
}

/// A call that breaks a contract or raises an exception.
pub(super) fn counterexample(function: &str, found: &Counterexample) -> Value {
    let (args, kwargs) = inputs(&found.inputs);
    json!({
        "args": args, "kwargs": kwargs, "violation": found.violation, "actual_result": found.actual_result,
        "path_condition": found.path_condition, "call": format_call(function, &found.inputs), "line": found.line,
    })
}

/// The text for the model: each call and its outcome.
pub(super) fn summarize(function: &str, found: &[Counterexample]) -> String {
    let one = |found: &Counterexample| {
        let lines = format!(
            "{}\n# {}\n# result: {}",
            format_call(function, &found.inputs),
            found.violation,
            found.actual_result
        );
        fenced(&lines)
    };
    let all: Vec<String> = found.iter().map(one).collect();
    format!("found, and reproduced in CPython:\n{}", all.join("\n"))
}
