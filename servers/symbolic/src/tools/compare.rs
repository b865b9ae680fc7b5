use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::failure::{Asked, fault};
use super::{Shape, Told, fenced, inputs, usual_seconds, written_call};
use crate::analyse;
use crate::engine::Workbench;
use crate::report::{CompareReport, CompareVerdict, Difference, Failure};

/// What `compare_functions` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compare {
    /// Python source with both functions and what they use; at most 64 KB.
    pub(crate) code: String,
    /// The one function.
    pub(crate) function_a: String,
    /// The other function; it takes the same parameters.
    pub(crate) function_b: String,
    /// Seconds until the answer has to be there.
    #[serde(default = "usual_seconds")]
    #[schemars(range(min = 1, max = 300))]
    pub(crate) timeout_seconds: u32,
}

/// Does it.
pub(crate) fn compare(bench: &Workbench<'_>, asked: &Compare) -> CompareReport {
    let (a, b) = (&asked.function_a, &asked.function_b);
    analyse::compare(bench.program, a, b, &bench.budget, bench.outside, bench.outside)
}

impl Compare {
    /// Tells what came of it.
    pub(crate) fn told(&self, report: &CompareReport, took: Duration) -> Told {
        let mut members = Map::new();
        members.insert("paths_compared".to_owned(), json!(report.paths_compared));
        match &report.verdict {
            CompareVerdict::Equivalent if report.proof.exhaustive => {
                members.insert("confidence".to_owned(), json!("proven"));
                let object = Shape::Compare.filled("equivalent", members, took, &report.proof);
                let text = format!("equivalent on all {} pairs of paths", report.paths_compared);
                Told { object, text, fault: None }
            }
            CompareVerdict::Different(found) => {
                members.insert("confidence".to_owned(), json!("proven"));
                members.insert("distinguishing_input".to_owned(), self.difference(found));
                let object = Shape::Compare.filled("different", members, took, &report.proof);
                Told { object, text: self.in_words(found), fault: None }
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
    ) -> Told {
        let asked = Asked { function: &self.function_a, exception: "", seconds: self.timeout_seconds };
        let fault = fault(failure, &asked);
        let object = Shape::Compare.failed("error", &fault, members, took, &report.proof);
        Told { object, text: String::new(), fault: Some(fault) }
    }

    fn difference(&self, found: &Difference) -> Value {
        let (args, kwargs) = inputs(&found.inputs);
        json!({
            "args": args, "kwargs": kwargs, "function_a_result": found.function_a_result,
            "function_b_result": found.function_b_result, "explanation": found.explanation,
            "call": written_call(&self.function_a, &found.inputs),
        })
    }

    fn in_words(&self, found: &Difference) -> String {
        let lines = format!(
            "{}  # {}\n{}  # {}",
            written_call(&self.function_a, &found.inputs),
            found.function_a_result,
            written_call(&self.function_b, &found.inputs),
            found.function_b_result,
        );
        format!("different, as CPython shows:\n{}", fenced(&lines))
    }
}
