//! JSON Schemas of request and response bodies of the operator's API.

use failwell_controls::RestSession;
use failwell_store::ApiKey;
pub(crate) use failwell_transport::paths::shapes::{anything, events, object};
use serde_json::{Value, json};

pub(crate) fn approvals() -> Value {
    json!({
        "type": "object",
        "required": ["approvals"],
        "properties": {"approvals": {"type": "array", "items": approval()}},
    })
}

pub(crate) fn approval() -> Value {
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

pub(crate) fn decision() -> Value {
    json!({
        "type": "object",
        "required": ["decision"],
        "properties": {
            "decision": {"type": "string", "enum": ["approve", "deny"]},
            "reason": {"type": ["string", "null"]},
        },
        "additionalProperties": false,
        "examples": [{"decision": "approve", "reason": "looked at it"}],
    })
}

pub(crate) fn me() -> Value {
    json!({
        "type": "object",
        "required": ["name", "role", "roles"],
        "properties": {
            "name": {"type": "string"},
            "role": {"enum": ["user", "developer", "admin"]},
            "roles": {"type": "array", "items": {"type": "string"}},
        },
    })
}

pub(crate) fn session_terms() -> Value {
    json!({
        "type": "object",
        "properties": {
            "ttl_s": {"type": "integer", "minimum": 1, "maximum": RestSession::LONGEST_TTL},
            "metadata": {"type": "object"},
        },
        "additionalProperties": false,
        "examples": [{"ttl_s": 600, "metadata": {"app": "shop"}}],
    })
}

pub(crate) fn session() -> Value {
    json!({
        "type": "object",
        "required": ["id", "ttl_s", "created_ms", "expires_ms", "metadata", "context_keys"],
        "properties": {
            "id": {"type": "string"},
            "ttl_s": {"type": "integer"},
            "created_ms": {"type": "integer"},
            "expires_ms": {"type": "integer"},
            "metadata": {"type": "object"},
            "context_keys": {"type": "array", "items": {"type": "string"}},
        },
    })
}

pub(crate) fn sessions() -> Value {
    json!({
        "type": "object",
        "required": ["sessions"],
        "properties": {"sessions": {"type": "array", "items": session()}},
    })
}

pub(crate) fn new_item() -> Value {
    json!({
        "type": "object",
        "required": ["value"],
        "properties": {"value": {}},
        "additionalProperties": false,
        "examples": [{"value": {"page": 2}}],
    })
}

pub(crate) fn item() -> Value {
    json!({
        "type": "object",
        "required": ["key", "value"],
        "properties": {"key": {"type": "string"}, "value": {}},
    })
}

pub(crate) fn wanted_key() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$"},
            "roles": {
                "type": "array",
                "items": {"type": "string", "pattern": "^[A-Za-z0-9._@/-]{1,128}$"},
                "maxItems": 16,
                "default": ["user"],
            },
            "ttl_s": {"type": "integer", "minimum": 1, "maximum": ApiKey::LONGEST_TTL},
        },
        "additionalProperties": false,
        "examples": [{"name": "ci", "roles": ["developer"], "ttl_s": 2592000}],
    })
}

fn key() -> Value {
    json!({
        "type": "object",
        "required": ["id", "name", "roles", "made_by", "created_ms"],
        "properties": {
            "id": {"type": "string"},
            "name": {"type": "string"},
            "roles": {"type": "array", "items": {"type": "string"}},
            "made_by": {"type": "string"},
            "created_ms": {"type": "integer"},
            "expires_ms": {"type": "integer"},
        },
    })
}

pub(crate) fn keys() -> Value {
    json!({
        "type": "object",
        "required": ["keys"],
        "properties": {"keys": {"type": "array", "items": key()}},
    })
}

/// The description of a key, with the key itself.
pub(crate) fn new_key() -> Value {
    json!({
        "allOf": [
            key(),
            {"required": ["key"], "properties": {"key": {"type": "string", "pattern": "^fw_[0-9a-f]{64}$"}}},
        ],
    })
}

pub(crate) fn servers() -> Value {
    json!({
        "type": "object",
        "required": ["servers"],
        "properties": {"servers": {"type": "array", "items": {
            "type": "object",
            "required": ["name", "kind", "state", "since", "sessions", "starts", "lazy"],
            "properties": {
                "name": {"type": "string"},
                "kind": {"enum": ["built-in", "program", "http"]},
                "state": {"enum": ["up", "starting", "idle", "down"]},
                "since": {"type": "string", "format": "date-time"},
                "tools": {"type": "integer"},
                "sessions": {"type": "integer"},
                "starts": {"type": "integer"},
                "lazy": {"type": "boolean"},
                "last_failure": {
                    "type": "object",
                    "required": ["at", "reason", "text"],
                    "properties": {
                        "at": {"type": "string", "format": "date-time"},
                        "reason": {"type": "string"},
                        "text": {"type": "string"},
                    },
                },
            },
        }}},
    })
}

pub(crate) fn operations() -> Value {
    json!({
        "type": "object",
        "required": ["operations"],
        "properties": {"operations": {"type": "array", "items": {
            "type": "object",
            "required": ["timestamp", "ref", "outcome", "service", "duration_us"],
            "properties": {
                "timestamp": {"type": "string"},
                "ref": {"type": "string"},
                "outcome": {"enum": ["ok", "tool_failed", "fault"]},
                "service": {"type": "string"},
                "face": {"type": "string"},
                "caller": {"type": "string"},
                "method": {"type": "string"},
                "target": {"type": "string"},
                "server": {"type": "string"},
                "duration_us": {"type": "integer"},
                "reason": {"type": "string"},
                "code": {"type": "integer"},
            },
        }}},
    })
}
