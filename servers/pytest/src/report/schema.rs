//! The output schemas of the tools.

use serde_json::{Value, json};

fn test() -> Value {
    json!({
        "type": "object",
        "required": ["node_id", "outcome", "duration", "message", "traceback"],
        "properties": {
            "node_id": {"type": "string"},
            "outcome": {"enum": ["passed", "failed", "skipped", "error"]},
            "duration": {"type": "number"},
            "message": {"type": ["string", "null"]},
            "traceback": {"type": ["string", "null"]},
        },
    })
}

fn collection_error() -> Value {
    json!({
        "type": "object",
        "required": ["file", "error_type", "message", "line", "traceback"],
        "properties": {
            "file": {"type": "string"},
            "error_type": {"type": "string"},
            "message": {"type": "string"},
            "line": {"type": ["integer", "null"]},
            "traceback": {"type": "string"},
        },
    })
}

/// The output schema of `execute_tests`.
pub(crate) fn executed() -> Value {
    json!({
        "type": "object",
        "required": ["exit_code", "status", "summary", "tests", "collection_errors", "text_output", "run_id", "mode"],
        "properties": {
            "exit_code": {"type": "integer"},
            "status": {"enum": ["passed", "failed", "no_tests", "collection_error", "too_many_warnings"]},
            "summary": {
                "type": "object",
                "required": ["total", "passed", "failed", "skipped", "errors", "duration"],
            },
            "tests": {"type": "array", "items": test()},
            "tests_omitted": {"type": "object", "description": "tests not listed, by outcome"},
            "causes": {"type": "array", "description": "failures grouped by root cause, with ids to run again"},
            "collection_errors": {"type": "array", "items": collection_error()},
            "text_output": {"type": "string"},
            "run_id": {"type": "string"},
            "mode": {"enum": ["cold", "warm", "none"]},
            "environment": {"type": "object"},
            "log": {"type": "string", "description": "resource with the whole output"},
        },
    })
}

/// The output schema of `discover_tests`.
pub(crate) fn discovered() -> Value {
    json!({
        "type": "object",
        "required": ["tests", "count", "collection_errors"],
        "properties": {
            "tests": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["node_id", "module", "class", "function", "file", "line"],
                    "properties": {
                        "node_id": {"type": "string"},
                        "module": {"type": "string"},
                        "class": {"type": ["string", "null"]},
                        "function": {"type": "string"},
                        "file": {"type": "string"},
                        "line": {"type": ["integer", "null"]},
                    },
                },
            },
            "count": {"type": "integer"},
            "total": {"type": "integer", "description": "tests found, listed or not"},
            "collection_errors": {"type": "array", "items": collection_error()},
        },
    })
}
