use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::tool_report::{FailureContext, fault};
use super::{AnalysisKind, ToolReport, default_seconds, fenced, format_call, inputs};
use crate::analyse::Analysis;
use crate::analyse::report::{CompareReport, CompareVerdict, Difference, Failure};

/// What `compare_functions` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CompareArguments {
    /// Python source with both functions and what they use; at most 64 KB.
    pub(crate) code: String,
    /// The one function.
    pub(crate) function_a: String,
    /// The other function; it takes the same parameters.
    pub(crate) function_b: String,
    /// Seconds until the answer has to be there.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = 300))]
    pub(crate) timeout_seconds: u32,
}

pub(crate) fn compare(analysis: &Analysis<'_>, asked: &CompareArguments) -> CompareReport {
    analysis.compare(&asked.function_a, &asked.function_b)
}

impl CompareArguments {
    pub(crate) fn describe(&self, report: &CompareReport, took: Duration) -> ToolReport {
        let mut members = Map::new();
        members.insert("paths_compared".to_owned(), json!(report.paths_compared));
        match &report.verdict {
            CompareVerdict::Equivalent if report.proof.exhaustive => {
                members.insert("confidence".to_owned(), json!("proven"));
                let object = AnalysisKind::Compare.result("equivalent", members, took, &report.proof);
                let text = format!("equivalent on all {} pairs of paths", report.paths_compared);
                ToolReport { object, text, fault: None }
            }
            CompareVerdict::Different(found) => {
                members.insert("confidence".to_owned(), json!("proven"));
                members.insert("distinguishing_input".to_owned(), self.difference(found));
                let object = AnalysisKind::Compare.result("different", members, took, &report.proof);
                ToolReport { object, text: self.summarize(found), fault: None }
            }
            CompareVerdict::Equivalent => self.failed(
                &Failure::Bug("equivalent without an exhaustive proof".to_owned()),
                members,
                report,
                took,
            ),
            CompareVerdict::Failed(failure) => self.failed(failure, members, report, took),
        }
    }

    fn failed(
        &self,
        failure: &Failure,
        members: Map<String, Value>,
        report: &CompareReport,
        took: Duration,
    ) -> ToolReport {
        let asked =
            FailureContext { function: &self.function_a, exception: "", seconds: self.timeout_seconds };
        let fault = fault(failure, &asked);
        let object = AnalysisKind::Compare.failed_result("error", &fault, members, took, &report.proof);
        ToolReport { object, text: String::new(), fault: Some(fault) }
    }

    fn difference(&self, found: &Difference) -> Value {
        let (args, kwargs) = inputs(&found.inputs);
        json!({
            "args": args, "kwargs": kwargs, "function_a_result": found.function_a_result,
            "function_b_result": found.function_b_result, "explanation": found.explanation,
            "call": format_call(&self.function_a, &found.inputs),
        })
    }

    fn summarize(&self, found: &Difference) -> String {
        let lines = format!(
            "{}  # {}\n{}  # {}",
            format_call(&self.function_a, &found.inputs),
            found.function_a_result,
            format_call(&self.function_b, &found.inputs),
            found.function_b_result,
        );
        format!("different, as CPython shows:\n{}", fenced(&lines))
    }
}
