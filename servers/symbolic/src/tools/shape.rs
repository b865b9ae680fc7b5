use std::time::Duration;

use failwell_fault::Fault;
use serde_json::{Map, Value, json};

use super::proof;
use crate::report::Proof;

/// The members of a tool's result with their empty values, in the order they are written.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    Check,
    Exceptions,
    Compare,
    Branches,
}

impl Shape {
    /// A result in which nothing was found.
    fn empty(self) -> Value {
        match self {
            Shape::Check => json!({
                "counterexamples": [], "paths_explored": 0, "paths_verified": 0, "time_seconds": 0.0,
                "coverage_estimate": 0.0, "contracts": [], "vacuous": false,
            }),
            Shape::Exceptions => json!({
                "triggering_inputs": [], "paths_to_exception": 0, "total_paths_explored": 0, "time_seconds": 0.0,
            }),
            Shape::Compare => json!({
                "distinguishing_input": null, "paths_compared": 0, "confidence": "partial", "time_seconds": 0.0,
            }),
            Shape::Branches => json!({
                "branches": [], "total_branches": 0, "reachable_branches": 0, "dead_code_lines": [],
                "cyclomatic_complexity": 0, "time_seconds": 0.0, "analysis_mode": "static",
            }),
        }
    }

    /// The result: status, then these members over the empty ones, then the proof.
    pub(crate) fn filled(
        self,
        status: &str,
        members: Map<String, Value>,
        took: Duration,
        of: &Proof,
    ) -> Map<String, Value> {
        let mut whole = Map::new();
        whole.insert("status".to_owned(), json!(status));
        if let Value::Object(empty) = self.empty() {
            whole.extend(empty);
        }
        whole.extend(members);
        whole.insert("time_seconds".to_owned(), json!(rounded(took)));
        whole.insert("proof".to_owned(), proof(of));
        whole
    }

    /// The result of a call that failed: the record's type and message come first.
    pub(crate) fn failed(
        self,
        status: &str,
        fault: &Fault,
        members: Map<String, Value>,
        took: Duration,
        of: &Proof,
    ) -> Map<String, Value> {
        let mut whole = Map::new();
        whole.insert("status".to_owned(), json!(status));
        whole.insert("error_type".to_owned(), json!(error_type(fault)));
        whole.insert("message".to_owned(), json!(message(fault)));
        for (name, value) in self.filled(status, members, took, of) {
            whole.entry(name).or_insert(value);
        }
        whole
    }

    /// The JSON Schema of the result.
    pub(crate) fn schema(self, statuses: &[&str]) -> Value {
        let mut required: Vec<String> = vec!["status".to_owned(), "proof".to_owned()];
        if let Value::Object(empty) = self.empty() {
            required.extend(empty.keys().cloned());
        }
        json!({
            "type": "object",
            "required": required,
            "properties": {
                "status": {"enum": statuses},
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

/// The record's name for a fault.
pub(crate) fn error_type(fault: &Fault) -> String {
    match fault.get("error_type") {
        Some(known) => known.to_string(),
        None if !fault.violations().is_empty() => "ValueError".to_owned(),
        None => "RuntimeError".to_owned(),
    }
}

fn message(fault: &Fault) -> String {
    if fault.violations().is_empty() {
        return fault.detail();
    }
    let one = |violation: &failwell_fault::Violation| {
        let name: Vec<&str> = violation.pointer.segments().collect();
        format!("Invalid parameter '{}': {}", name.join("."), violation.message())
    };
    fault.violations().iter().map(one).collect::<Vec<_>>().join("; ")
}

/// Tenths of milliseconds are enough.
fn rounded(took: Duration) -> f64 {
    (took.as_secs_f64() * 10_000.0).round() / 10_000.0
}
