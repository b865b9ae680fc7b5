use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::check::{counterexample, summarize};
use super::tool_report::{FailureContext, fault};
use super::{AnalysisKind, ToolReport, default_seconds};
use crate::analyse::Analysis;
use crate::analyse::report::{Counterexample, ExceptionReport, ExceptionVerdict, Failure};

/// What `find_path_to_exception` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExceptionArguments {
    /// Python source with the function and what it uses; at most 64 KB.
    pub(crate) code: String,
    /// The function to look into, at the top level of the code, or a method as Class.method.
    pub(crate) function_name: String,
    /// A built-in exception, or a class of the code; its subclasses count too.
    pub(crate) exception_type: String,
    /// Seconds until the answer has to be there.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = 300))]
    pub(crate) timeout_seconds: u32,
}

pub(crate) fn exceptions(analysis: &Analysis<'_>, asked: &ExceptionArguments) -> ExceptionReport {
    analysis.find_exception(&asked.function_name, &asked.exception_type)
}

impl ExceptionArguments {
    pub(crate) fn describe(&self, report: &ExceptionReport, took: Duration) -> ToolReport {
        let mut members = Map::new();
        members.insert("paths_to_exception".to_owned(), json!(report.paths_to_exception));
        members.insert("total_paths_explored".to_owned(), json!(report.total_paths_explored));
        match &report.verdict {
            ExceptionVerdict::Found(found) => {
                let all: Vec<Value> = found.iter().map(|one| self.trigger(one)).collect();
                members.insert("triggering_inputs".to_owned(), json!(all));
                let object = AnalysisKind::Exceptions.result("found", members, took, &report.proof);
                ToolReport { object, text: summarize(&self.function_name, found), fault: None }
            }
            ExceptionVerdict::Unreachable if report.proof.exhaustive => {
                let object = AnalysisKind::Exceptions.result("unreachable", members, took, &report.proof);
                let text = format!("unreachable: no input raises it, on any of {} paths", report.proof.paths);
                ToolReport { object, text, fault: None }
            }
            ExceptionVerdict::Unreachable => self.failed(
                &Failure::Bug("unreachable without an exhaustive proof".to_owned()),
                members,
                report,
                took,
            ),
            ExceptionVerdict::Failed(failure) => self.failed(failure, members, report, took),
        }
    }

    fn failed(
        &self,
        failure: &Failure,
        members: Map<String, Value>,
        report: &ExceptionReport,
        took: Duration,
    ) -> ToolReport {
        let asked = FailureContext {
            function: &self.function_name,
            exception: &self.exception_type,
            seconds: self.timeout_seconds,
        };
        let fault = fault(failure, &asked);
        let object = AnalysisKind::Exceptions.failed_result("error", &fault, members, took, &report.proof);
        ToolReport { object, text: String::new(), fault: Some(fault) }
    }

    fn trigger(&self, found: &Counterexample) -> Value {
        let mut report = counterexample(&self.function_name, found);
        if let Some(members) = report.as_object_mut() {
            members.insert("stack_trace".to_owned(), json!(found.stack_trace));
        }
        report
    }
}
