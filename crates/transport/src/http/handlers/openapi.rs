//! `/openapi.json`: the route table and the available tools, as OpenAPI 3.1.

mod failures;
mod tools;

use std::sync::Arc;

use failwell_pipeline::{Call, IncomingMessage, IncomingRequest, RestRequest};
use failwell_rpc::Caller;
use failwell_rpc::{Dialect, RestStyle};
use failwell_toolbox::List;
use http::Response;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::http::access::authorize::authenticate;
use crate::http::body::{Body, whole};
use crate::http::request::RequestHead;
use crate::http::router::Mount;
use crate::http::routes::{AcceptedBody, Action, RequiredAccess, Route, RouteTable, SuccessResponse};

/// The OpenAPI document. It lists only the tools that the caller can use. An unauthenticated caller gets only
/// the paths, if authentication is required.
pub(in crate::http) async fn document(mount: &Arc<Mount>, head: &RequestHead<'_>) -> Response<Body> {
    let tools = match authenticate(head, &mount.settings).await {
        Ok(caller) => listed(mount, head, &caller).await,
        Err(_) => Vec::new(),
    };
    let (mut paths, mut components) = (paths(mount.settings.routes), components());
    tools::add(&tools, mount.pipeline.recorder().reasons(), &mut paths, &mut components);
    let info = mount.pipeline.server().info();
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": info.title, "version": info.version, "description": ABOUT},
        "paths": paths,
        "components": components,
    });
    whole(200, "application/json", document.to_string())
}

const ABOUT: &str = "Every failure has the body {error_code, message, detail}; with `Accept: application/problem+json` it \
                     is RFC 9457 instead. `detail.reason` is stable, and docs/errors.md explains each.";

async fn listed(mount: &Arc<Mount>, head: &RequestHead<'_>, caller: &Caller) -> Vec<Value> {
    let message = IncomingMessage::Rest(RestRequest { dialect: Dialect::Rest(RestStyle::Plain), body: None });
    let cancel = CancellationToken::new();
    let incoming = IncomingRequest::plain(message, caller, head.connection, cancel, None);
    let listed = mount.pipeline.handle_call(incoming, Ok(Call::list(List::Tools))).await.reply;
    let listed: Option<Value> = listed.and_then(|reply| serde_json::from_slice(&reply.body).ok());
    listed.as_ref().and_then(|listed| listed.get("tools")?.as_array().cloned()).unwrap_or_default()
}

fn paths(routes: RouteTable) -> Map<String, Value> {
    routes.iter().map(|route| (route.path.replace('*', ""), path(route))).collect()
}

fn path(route: &Route) -> Value {
    let mut item = Map::new();
    let parameters: Vec<Value> = route.names().map(path_parameter).collect();
    if !parameters.is_empty() {
        item.insert("parameters".to_owned(), Value::Array(parameters));
    }
    for action in route.actions {
        item.insert(action.verb.to_ascii_lowercase(), operation(action));
    }
    Value::Object(item)
}

fn path_parameter(name: &str) -> Value {
    json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}})
}

fn operation(action: &Action) -> Value {
    let mut responses = Map::new();
    for response in action.responses {
        responses.insert(response.status.to_string(), given(response));
    }
    for (status, failure) in failures::of(action) {
        // A success response may have the status of a failure, as for readiness; it takes precedence.
        responses.entry(status).or_insert(failure);
    }
    let mut operation = json!({
        "operationId": action.id,
        "summary": action.summary,
        "responses": responses,
        "security": security(action.access),
    });
    let Some(members) = operation.as_object_mut() else { return operation };
    if let RequiredAccess::Role(role) = action.access {
        members.insert("description".to_owned(), json!(format!("Needs the role {}.", role.as_str())));
    }
    let query = action.query.iter().map(|query| {
        json!({"name": query.name, "in": "query", "description": query.about, "schema": (query.schema)()})
    });
    let query: Vec<Value> = query.collect();
    if !query.is_empty() {
        members.insert("parameters".to_owned(), Value::Array(query));
    }
    if let Some(body) = request_body(action.accepts) {
        members.insert("requestBody".to_owned(), body);
    }
    operation
}

/// Either of two headers; empty if no authentication is required.
pub(super) fn security(access: RequiredAccess) -> Value {
    match access {
        RequiredAccess::Nothing => json!([]),
        RequiredAccess::Key | RequiredAccess::Role(_) => json!([{"key": []}, {"bearer": []}]),
    }
}

fn request_body(accepts: AcceptedBody) -> Option<Value> {
    let body = |kind: &str, schema: Value| json!({"required": true, "content": {kind: {"schema": schema}}});
    match accepts {
        AcceptedBody::Nothing => None,
        AcceptedBody::Json(shape) => Some(body("application/json", shape.schema())),
        AcceptedBody::AnyJson(schema) => Some(body("application/json", schema())),
        AcceptedBody::Form(schema) => Some(body("multipart/form-data", schema())),
    }
}

fn given(responses: &SuccessResponse) -> Value {
    match responses.kind {
        "" => json!({"description": responses.about}),
        kind => json!({"description": responses.about, "content": {kind: {"schema": (responses.schema)()}}}),
    }
}

fn components() -> Value {
    json!({
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            "bearer": {"type": "http", "scheme": "bearer"},
        },
        "responses": {},
        "schemas": {
            "Failure": failures::body_schema(),
            "Problem": failures::problem_schema(),
            "RpcError": failures::rpc_schema(),
            "Fault": failures::fault_schema(),
        },
    })
}
