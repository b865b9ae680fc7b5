//! JSON Schemas of what is sent and answered.

use serde_json::{Value, json};

pub(super) fn anything() -> Value {
    json!({})
}

pub(super) fn object() -> Value {
    json!({"type": "object"})
}

pub(super) fn text() -> Value {
    json!({"type": "string"})
}

/// The data of an event stream has no schema of its own in OpenAPI.
pub(super) fn events() -> Value {
    json!({"type": "string", "description": "server-sent events"})
}

pub(super) fn status() -> Value {
    json!({"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}})
}

/// One message of JSON-RPC that answers.
fn answer() -> Value {
    json!({
        "type": "object",
        "required": ["jsonrpc"],
        "properties": {
            "jsonrpc": {"const": "2.0"},
            "id": {"type": ["string", "integer", "null"]},
            "result": {},
            "error": {"$ref": "#/components/schemas/RpcError"},
        },
        "oneOf": [{"required": ["result"]}, {"required": ["error"]}],
    })
}

pub(super) fn message() -> Value {
    json!({"anyOf": [answer(), {"type": "array", "items": answer()}]})
}

pub(super) fn rpc_answer() -> Value {
    json!({"oneOf": [answer(), {"type": "array", "minItems": 1, "items": answer()}]})
}

pub(super) fn tools() -> Value {
    json!({
        "type": "object",
        "required": ["tools"],
        "properties": {"tools": {"type": "array", "items": {
            "type": "object",
            "required": ["name", "inputSchema"],
            "properties": {
                "name": {"type": "string"},
                "title": {"type": "string"},
                "description": {"type": "string"},
                "inputSchema": {"type": "object"},
                "outputSchema": {"type": "object"},
            },
        }}},
    })
}

pub(super) fn approvals() -> Value {
    json!({
        "type": "object",
        "required": ["approvals"],
        "properties": {"approvals": {"type": "array", "items": approval()}},
    })
}

pub(super) fn approval() -> Value {
    json!({
        "type": "object",
        "required": ["id", "state", "caller", "server", "tool", "asked_ms", "expires_ms"],
        "properties": {
            "id": {"type": "string"},
            "state": {"enum": ["pending", "approved", "denied", "used", "expired"]},
            "caller": {"type": "string"},
            "server": {"type": "string"},
            "tool": {"type": "string"},
            "arguments": {},
            "asked_ms": {"type": "integer"},
            "expires_ms": {"type": "integer"},
            "decided_ms": {"type": "integer"},
            "decided_by": {"type": "string"},
            "reason": {"type": "string"},
            "used_ms": {"type": "integer"},
        },
    })
}

pub(super) fn decision() -> Value {
    json!({
        "type": "object",
        "required": ["decision"],
        "properties": {
            "decision": {"type": "string", "enum": ["approve", "deny"]},
            "reason": {"type": ["string", "null"]},
        },
        "additionalProperties": false,
    })
}
