//! JSON Schemas of request and response bodies.

use serde_json::{Value, json};

pub fn anything() -> Value {
    json!({})
}

pub fn object() -> Value {
    json!({"type": "object"})
}

pub fn text() -> Value {
    json!({"type": "string"})
}

/// OpenAPI has no schema for the data of an event stream.
pub fn events() -> Value {
    json!({"type": "string", "description": "server-sent events"})
}

pub fn status() -> Value {
    json!({"type": "object", "required": ["status"], "properties": {"status": {"type": "string"}}})
}

pub fn readiness() -> Value {
    json!({
        "type": "object",
        "required": ["status"],
        "properties": {
            "status": {"type": "string"},
            "not_ready": {"type": "array", "items": {
                "type": "object",
                "required": ["part", "state"],
                "properties": {
                    "part": {"enum": ["ledger", "server"]},
                    "name": {"type": "string"},
                    "state": {"enum": ["down", "starting"]},
                },
            }},
        },
    })
}

/// A JSON-RPC response message.
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

pub fn message() -> Value {
    json!({"anyOf": [answer(), {"type": "array", "items": answer()}]})
}

pub fn rpc_answer() -> Value {
    json!({"oneOf": [answer(), {"type": "array", "minItems": 1, "items": answer()}]})
}

pub fn tools() -> Value {
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
