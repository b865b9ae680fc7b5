//! The paths of every server: MCP, `/rpc`, tools over REST, and the operator's pages.

use failwell_fault::reason;
use serde_json::{Value, json};

use super::{
    AcceptedBody, Action, FailureFormat, Handler, METADATA, Query, RequiredAccess, Route, RoutePlace,
    SuccessResponse, shapes,
};
use crate::http::handlers::{pages, rest};

const JSON: &str = "application/json";

/// The defaults of most actions.
pub const GET: Action = Action {
    verb: "GET",
    id: "",
    summary: "",
    access: RequiredAccess::Key,
    query: &[],
    accepts: AcceptedBody::Nothing,
    responses: &[],
    fails: &[],
    failure_format: FailureFormat::Rest,
    handler: Handler::Missing,
};
pub const POST: Action = Action { verb: "POST", ..GET };
pub const PUT: Action = Action { verb: "PUT", ..GET };
pub const DELETE: Action = Action { verb: "DELETE", ..GET };
const OPEN: Action = Action { access: RequiredAccess::Nothing, ..GET };

pub const fn ok(about: &'static str, schema: fn() -> Value) -> SuccessResponse {
    SuccessResponse { status: 200, about, kind: JSON, schema }
}

pub const fn created(about: &'static str, schema: fn() -> Value) -> SuccessResponse {
    SuccessResponse { status: 201, about, kind: JSON, schema }
}

pub const fn nothing(status: u16, about: &'static str) -> SuccessResponse {
    SuccessResponse { status, about, kind: "", schema: shapes::anything }
}

/// The paths before those that other crates add. Frequent paths come first.
pub(in super::super) static FIRST: &[Route] = &[
    Route { place: RoutePlace::Mcp, path: "/mcp", actions: MCP },
    Route { place: RoutePlace::Rpc, path: "/rpc", actions: RPC },
    Route { place: RoutePlace::Tool, path: "/v1/tools/{name*}", actions: TOOL },
    Route { place: RoutePlace::Tools, path: "/v1/tools", actions: TOOLS },
    Route { place: RoutePlace::Mcp, path: "/mcp/{server}", actions: MCP_SINGLE },
];

/// The paths after them.
pub(in super::super) static LAST: &[Route] = &[
    Route { place: RoutePlace::Other, path: "/openapi.json", actions: DOCUMENT },
    Route { place: RoutePlace::Other, path: "/healthz", actions: HEALTH },
    Route { place: RoutePlace::Other, path: "/readyz", actions: READY },
    Route { place: RoutePlace::Other, path: "/metrics", actions: METRICS },
    Route { place: RoutePlace::Metadata, path: METADATA, actions: METADATA_OF_ALL },
    Route { place: RoutePlace::Metadata, path: METADATA_PATH, actions: METADATA_OF_ONE },
];

const METADATA_PATH: &str = "/.well-known/oauth-protected-resource/{path*}";

const MESSAGE: Action = Action {
    accepts: AcceptedBody::AnyJson(shapes::anything),
    responses: &[
        ok("the answer, or a stream of events that ends with it", shapes::message),
        nothing(202, "the notification was accepted"),
    ],
    fails: &[
        &reason::HTTP_ACCEPT,
        &reason::RPC_BAD_SHAPE,
        &reason::HTTP_SESSION_REQUIRED,
        &reason::HTTP_SESSION_LOST,
        &reason::MCP_UNKNOWN_METHOD,
    ],
    failure_format: FailureFormat::Mcp,
    handler: Handler::McpMessage,
    ..POST
};
const LISTEN: Action = Action {
    verb: "GET",
    accepts: AcceptedBody::Nothing,
    responses: &[SuccessResponse {
        status: 200,
        about: "messages of the server",
        kind: "text/event-stream",
        schema: shapes::events,
    }],
    fails: &[
        &reason::HTTP_ACCEPT,
        &reason::HTTP_METHOD,
        &reason::HTTP_SESSION_REQUIRED,
        &reason::HTTP_SESSION_LOST,
    ],
    handler: Handler::McpListen,
    ..MESSAGE
};
const END: Action = Action {
    verb: "DELETE",
    responses: &[nothing(204, "the session has ended")],
    handler: Handler::McpEnd,
    ..LISTEN
};

static MCP: &[Action] = &[
    Action { id: "sendMessage", summary: "MCP, all servers: send one message", ..MESSAGE },
    Action { id: "listen", summary: "MCP, all servers: receive messages of a session", ..LISTEN },
    Action { id: "endMcpSession", summary: "MCP, all servers: end a session", ..END },
];

static MCP_SINGLE: &[Action] = &[
    Action { id: "sendMessageToOne", summary: "MCP, one server: send one message", ..MESSAGE },
    Action { id: "listenToOne", summary: "MCP, one server: receive messages of a session", ..LISTEN },
    Action { id: "endMcpSessionOfOne", summary: "MCP, one server: end a session", ..END },
];

static RPC: &[Action] = &[Action {
    id: "rpc",
    handler: Handler::Rpc,
    summary: "plain JSON-RPC 2.0, one message or a batch: list_tools, execute_tool, read_resource, every tool by name",
    accepts: AcceptedBody::AnyJson(shapes::anything),
    responses: &[
        ok("the answer or the answers; failures too", shapes::rpc_answer),
        nothing(204, "only notifications were sent"),
    ],
    failure_format: FailureFormat::Rpc,
    ..POST
}];

static TOOLS: &[Action] = &[Action {
    id: "listTools",
    handler: Handler::Call(rest::list_tools),
    summary: "list all tools with their schemas",
    responses: &[ok("the tools", shapes::tools)],
    ..GET
}];

static TOOL: &[Action] = &[Action {
    id: "callTool",
    handler: Handler::Call(rest::call_tool),
    summary: "call a tool; the body is its arguments",
    accepts: AcceptedBody::AnyJson(shapes::object),
    responses: &[ok("the tool's structured result, or its content where it has none", shapes::anything)],
    fails: &[&reason::MCP_UNKNOWN_TOOL, &reason::MCP_BAD_ARGUMENTS],
    ..POST
}];

static DOCUMENT: &[Action] = &[Action {
    id: "getDocument",
    handler: Handler::OpenApi,
    summary: "read this document; with a key, it has every tool that the key may call",
    responses: &[ok("OpenAPI 3.1", shapes::object)],
    ..OPEN
}];

static HEALTH: &[Action] = &[Action {
    id: "getHealth",
    handler: Handler::Page(pages::health),
    summary: "check that the process is alive",
    responses: &[ok("alive", shapes::status)],
    ..OPEN
}];

static READY: &[Action] = &[Action {
    id: "getReadiness",
    handler: Handler::Custom(pages::ready),
    summary: "check that new requests are accepted",
    query: &[Query {
        name: "verbose",
        about: "also list the parts that do not work; without credentials, where they are needed, without names",
        schema: || json!({"type": "string", "enum": ["", "true", "false"], "default": "false"}),
    }],
    responses: &[
        ok("they are", shapes::readiness),
        SuccessResponse {
            status: 503,
            about: "the server is shutting down, or cannot write its ledger",
            kind: JSON,
            schema: shapes::readiness,
        },
    ],
    ..OPEN
}];

static METRICS: &[Action] = &[Action {
    id: "getMetrics",
    handler: Handler::Page(pages::metrics),
    summary: "read the metrics for Prometheus",
    responses: &[SuccessResponse {
        status: 200,
        about: "the metrics",
        kind: "text/plain",
        schema: shapes::text,
    }],
    ..GET
}];

const TOKENS: Action = Action {
    responses: &[ok("RFC 9728", shapes::object)],
    fails: &[&reason::HTTP_UNKNOWN_PATH],
    handler: Handler::TokenMetadata,
    ..OPEN
};
static METADATA_OF_ALL: &[Action] =
    &[Action { id: "getTokenMetadata", summary: "read the OAuth metadata of this server", ..TOKENS }];
static METADATA_OF_ONE: &[Action] =
    &[Action { id: "getTokenMetadataOf", summary: "read the OAuth metadata of one path", ..TOKENS }];
