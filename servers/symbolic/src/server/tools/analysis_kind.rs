use std::time::Duration;

use failwell_fault::Fault;
use serde_json::{Map, Value, json};

use super::tool_report::status_of;
use super::write_proof;
use crate::analyse::report::Proof;

/// The four analyses. Each has a tool, and fixed members of its result.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AnalysisKind {
    Check,
    Exceptions,
    Compare,
    Branches,
}

impl AnalysisKind {
    pub(crate) fn tool_name(self) -> &'static str {
        match self {
            AnalysisKind::Check => "symbolic_check",
            AnalysisKind::Exceptions => "find_path_to_exception",
            AnalysisKind::Compare => "compare_functions",
            AnalysisKind::Branches => "analyze_branches",
        }
    }

    fn statuses(self) -> &'static [&'static str] {
        match self {
            AnalysisKind::Check => &["verified", "counterexample", "timeout", "error"],
            AnalysisKind::Exceptions => &["found", "unreachable", "error"],
            AnalysisKind::Compare => &["equivalent", "different", "error"],
            AnalysisKind::Branches => &["complete", "error"],
        }
    }

    /// The status of a fault. Only `symbolic_check` has one for an exhausted budget (ADR 0007).
    pub(crate) fn failure_status(self, fault: &Fault) -> &'static str {
        if self.statuses().contains(&"timeout") { status_of(fault) } else { "error" }
    }

    /// The members of the result with their empty values, in their order.
    fn empty_members(self) -> Value {
        match self {
            AnalysisKind::Check => json!({
                "counterexamples": [], "paths_explored": 0, "paths_verified": 0, "time_seconds": 0.0,
                "coverage_estimate": 0.0, "contracts": [], "vacuous": false,
            }),
            AnalysisKind::Exceptions => json!({
                "triggering_inputs": [], "paths_to_exception": 0, "total_paths_explored": 0, "time_seconds": 0.0,
            }),
            AnalysisKind::Compare => json!({
                "distinguishing_input": null, "paths_compared": 0, "confidence": "partial", "time_seconds": 0.0,
            }),
            AnalysisKind::Branches => json!({
                "branches": [], "total_branches": 0, "reachable_branches": 0, "dead_code_lines": [],
                "cyclomatic_complexity": 0, "time_seconds": 0.0, "analysis_mode": "static",
            }),
        }
    }

    /// The result: the status, then these members over the empty ones, then the proof.
    pub(crate) fn result(
        self,
        status: &str,
        members: Map<String, Value>,
        took: Duration,
        of: &Proof,
    ) -> Map<String, Value> {
        let mut whole = Map::new();
        whole.insert("status".to_owned(), json!(status));
        if let Value::Object(empty) = self.empty_members() {
            whole.extend(empty);
        }
        whole.extend(members);
        whole.insert("time_seconds".to_owned(), json!(rounded(took)));
        whole.insert("proof".to_owned(), write_proof(of));
        whole
    }

    /// The result of a failed call: `error_type` and `message` come first.
    pub(crate) fn failed_result(
        self,
        status: &str,
        fault: &Fault,
        members: Map<String, Value>,
        took: Duration,
        of: &Proof,
    ) -> Map<String, Value> {
        let first = [
            ("status", json!(status)),
            ("error_type", json!(error_type(fault))),
            ("message", json!(describe_fault(fault))),
        ];
        let mut whole: Map<String, Value> =
            first.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        for (name, value) in self.result(status, members, took, of) {
            whole.entry(name).or_insert(value);
        }
        whole
    }

    /// The JSON Schema of the result.
    pub(crate) fn result_schema(self) -> Value {
        let mut required: Vec<String> = vec!["status".to_owned(), "proof".to_owned()];
        if let Value::Object(empty) = self.empty_members() {
            required.extend(empty.keys().cloned());
        }
        json!({
            "type": "object",
            "required": required,
            "properties": {
                "status": {"enum": self.statuses()},
                "error_type": {"type": "string"},
                "message": {"type": "string"},
                "time_seconds": {"type": "number"},
                "proof": {
                    "type": "object",
                    "required": ["exhaustive", "paths", "bounds_hit", "unsupported", "assumptions", "solver", "budget_used", "replayed"],
                },
            },
        })
    }
}

/// The Python exception that `error_type` names.
pub(crate) fn error_type(fault: &Fault) -> String {
    match fault.get("error_type") {
        Some(known) => known.to_string(),
        None if !fault.violations().is_empty() => "ValueError".to_owned(),
        None => "RuntimeError".to_owned(),
    }
}

fn describe_fault(fault: &Fault) -> String {
    if fault.violations().is_empty() {
        return fault.detail();
    }
    let one = |violation: &failwell_fault::Violation| {
        let name: Vec<&str> = violation.pointer.segments().collect();
        format!("Invalid parameter '{}': {}", name.join("."), violation.message())
    };
    fault.violations().iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Rounds to tenths of milliseconds.
fn rounded(took: Duration) -> f64 {
    (took.as_secs_f64() * 10_000.0).round() / 10_000.0
}
