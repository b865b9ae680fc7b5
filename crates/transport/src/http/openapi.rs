//! `/openapi.json`: the REST face, generated from the tools that are there.

use std::sync::Arc;

use failwell_fault::Ref;
use failwell_policy::Caller;
use failwell_rpc::{Face, ReplyTo, RestStyle};
use failwell_server::{PlainAround, PlainCall, PlainFrom};
use http::Response;
use serde_json::{Map, Value, json};

use super::body::{Body, whole};
use super::request::Head;
use super::router::Door;

/// The document.
pub(super) async fn document(door: &Arc<Door>, head: &Head<'_>) -> Response<Body> {
    let to = ReplyTo { reference: Ref::fresh(), ..ReplyTo::misread(None, Face::Rest(RestStyle::Plain)) };
    let anyone = Caller::anonymous();
    let from = PlainFrom { caller: &anyone, connection: head.connection, request: None };
    let listed = door.house.walk_plain(to, Ok(PlainCall::ListTools), from, PlainAround::default()).await;
    let listed: Value =
        listed.and_then(|reply| serde_json::from_slice(&reply.body).ok()).unwrap_or(Value::Null);
    let mut paths = fixed_paths();
    for tool in listed.get("tools").and_then(Value::as_array).into_iter().flatten() {
        if let Some(name) = tool.get("name").and_then(Value::as_str) {
            paths.insert(format!("/v1/tools/{name}"), json!({"post": tool_operation(name, tool)}));
        }
    }
    let info = door.house.room().info();
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": info.title, "version": info.version},
        "paths": paths,
        "components": components(),
    });
    whole(200, "application/json", document.to_string())
}

fn fixed_paths() -> Map<String, Value> {
    let page = |summary: &str, kind: &str| {
        json!({"get": {"summary": summary, "responses": {
            "200": {"description": summary, "content": {kind: {"schema": {}}}}, "default": failure(),
        }}})
    };
    Map::from_iter([
        ("/v1/tools".to_owned(), page("every tool with its schemas", "application/json")),
        (
            "/v1/approvals".to_owned(),
            page("calls that need a person's yes, the latest first", "application/json"),
        ),
        ("/v1/approvals/{id}".to_owned(), approval()),
        ("/healthz".to_owned(), page("the process is alive", "application/json")),
        ("/readyz".to_owned(), page("new requests are taken", "application/json")),
        ("/metrics".to_owned(), page("numbers for Prometheus", "text/plain")),
        ("/openapi.json".to_owned(), page("this document", "application/json")),
    ])
}

fn approval() -> Value {
    let id = json!([{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]);
    let responses = |summary: &str| {
        json!({"200": {"description": summary, "content": {"application/json": {"schema": {"type": "object"}}}},
            "default": failure()})
    };
    let answer = json!({
        "type": "object",
        "required": ["decision"],
        "properties": {"decision": {"enum": ["approve", "deny"]}, "reason": {"type": "string"}},
        "additionalProperties": false,
    });
    json!({
        "parameters": id,
        "get": {"summary": "one of them, with its arguments", "responses": responses("the question and what became of it")},
        "post": {
            "summary": "say yes or no",
            "requestBody": {"required": true, "content": {"application/json": {"schema": answer}}},
            "responses": responses("the question with its answer"),
        },
    })
}

fn tool_operation(name: &str, tool: &Value) -> Value {
    let field = |key: &str, otherwise: Value| tool.get(key).cloned().unwrap_or(otherwise);
    let result = field("outputSchema", json!({"type": "object"}));
    json!({
        "operationId": name,
        "summary": field("title", json!(name)),
        "description": field("description", json!("")),
        "requestBody": {"content": {"application/json": {"schema": field("inputSchema", json!({}))}}},
        "responses": {
            "200": {"description": "the result", "content": {"application/json": {"schema": result}}},
            "default": failure(),
        },
    })
}

fn failure() -> Value {
    json!({"$ref": "#/components/responses/Failure"})
}

fn components() -> Value {
    json!({
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            "bearer": {"type": "http", "scheme": "bearer"},
        },
        "responses": {"Failure": {
            "description": "what went wrong and what to do next",
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Failure"}},
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
            },
        }},
        "schemas": {"Failure": failure_schema(), "Problem": problem_schema(), "Fault": fault_schema()},
    })
}

fn failure_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error_code", "message", "detail"],
        "properties": {
            "error_code": {"type": "integer"},
            "message": {"type": "string"},
            "detail": {"$ref": "#/components/schemas/Fault"},
        },
        "example": {
            "error_code": -32601,
            "message": "Tool not found: ehco",
            "detail": {"reason": "mcp/UNKNOWN_TOOL", "kind": "not_found", "title": "no such tool",
                "detail": "Tool not found: ehco", "hint": "call a tool that `tools/list` shows; did you mean `echo`?",
                "facts": {"name": "ehco"}, "retry": "after_change", "effect": "none", "origin": "caller",
                "doc": "docs/errors.md#mcp-unknown-tool", "ref": "0000000000000"},
        },
    })
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "required": ["type", "status", "title", "detail"],
        "properties": {"type": {"type": "string"}, "status": {"type": "integer"}},
    })
}

fn fault_schema() -> Value {
    let text = || json!({"type": "string"});
    json!({
        "type": "object",
        "required": ["reason", "kind", "title", "ref"],
        "properties": {
            "reason": text(), "kind": text(), "title": text(), "detail": text(), "hint": text(),
            "facts": {"type": "object"}, "violations": {"type": "array"}, "errors": {"type": "array"},
            "retry": {"enum": ["never", "after_change", "after_ms", "once"]},
            "retry_after_ms": {"type": "integer"},
            "effect": {"enum": ["none", "unknown", "partial", "complete"]},
            "origin": {"enum": ["caller", "policy", "server", "upstream", "failwell"]},
            "doc": text(), "ref": text(),
        },
    })
}
