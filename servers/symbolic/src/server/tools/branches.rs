use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::tool_report::{FailureContext, fault};
use super::{AnalysisKind, ToolReport, default_seconds, inputs};
use crate::analyse::report::{Branch, BranchReport, Reachability};
use crate::analyse::{Analysis, Depth};

/// What `analyze_branches` takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BranchArguments {
    /// Python source with the function and what it uses; at most 64 KB.
    pub(crate) code: String,
    /// The function to look into, at the top level of the code, or a method as Class.method.
    pub(crate) function_name: String,
    /// Seconds until the answer has to be there.
    #[serde(default = "default_seconds")]
    #[schemars(range(min = 1, max = 300))]
    pub(crate) timeout_seconds: u32,
    /// Find out which sides can be taken, with an example for each, instead of only listing the branches.
    #[serde(default)]
    pub(crate) symbolic_reachability: bool,
}

pub(crate) fn branches(analysis: &Analysis<'_>, asked: &BranchArguments) -> BranchReport {
    let depth = if asked.symbolic_reachability { Depth::Reachability } else { Depth::Syntax };
    analysis.branches(&asked.function_name, depth)
}

impl BranchArguments {
    /// The mode of the analysis in the result.
    pub(crate) fn mode(&self) -> &'static str {
        if self.symbolic_reachability { "symbolic" } else { "static" }
    }

    pub(crate) fn describe(&self, report: &BranchReport, took: Duration) -> ToolReport {
        let reachable = report.branches.iter().filter(|branch| is_reachable(branch)).count();
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("branches", json!(report.branches.iter().map(branch).collect::<Vec<_>>()));
        put("total_branches", json!(report.branches.len()));
        put("reachable_branches", json!(reachable));
        put("dead_code_lines", json!(report.dead_code_lines));
        put("cyclomatic_complexity", json!(report.cyclomatic_complexity));
        put("analysis_mode", json!(self.mode()));
        match &report.failure {
            None => {
                let object = AnalysisKind::Branches.result("complete", members, took, &report.proof);
                ToolReport { object, text: summarize(report, reachable), fault: None }
            }
            Some(failure) => {
                let asked = FailureContext {
                    function: &self.function_name,
                    exception: "",
                    seconds: self.timeout_seconds,
                };
                let fault = fault(failure, &asked);
                let object =
                    AnalysisKind::Branches.failed_result("error", &fault, members, took, &report.proof);
                ToolReport { object, text: String::new(), fault: Some(fault) }
            }
        }
    }
}

/// A branch is reachable unless both sides are known to be unreachable.
fn is_reachable(branch: &Branch) -> bool {
    branch.when_true != Reachability::No || branch.when_false != Reachability::No
}

fn branch(branch: &Branch) -> Value {
    let (true_reachable, true_example) = side(&branch.when_true);
    let (false_reachable, false_example) = side(&branch.when_false);
    json!({
        "line": branch.line, "condition": branch.condition,
        "true_reachable": true_reachable, "false_reachable": false_reachable,
        "true_example": true_example, "false_example": false_example,
    })
}

/// Whether a side can be taken (null if unknown), and arguments that take it.
fn side(reach: &Reachability) -> (Value, Value) {
    match reach {
        Reachability::Yes(found) => {
            let (mut args, kwargs) = inputs(found);
            if let (Some(args), Value::Object(kwargs)) = (args.as_object_mut(), kwargs) {
                args.extend(kwargs);
            }
            (json!(true), args)
        }
        Reachability::No => (json!(false), Value::Null),
        Reachability::Unknown => (Value::Null, Value::Null),
    }
}

fn summarize(report: &BranchReport, reachable: usize) -> String {
    let mut text = format!(
        "{} branches, {reachable} of them reachable as far as is known, cyclomatic complexity {}",
        report.branches.len(),
        report.cyclomatic_complexity,
    );
    if !report.dead_code_lines.is_empty() {
        let lines: Vec<String> = report.dead_code_lines.iter().map(u32::to_string).collect();
        text.push_str(&format!("; dead lines: {}", lines.join(", ")));
    }
    text
}
