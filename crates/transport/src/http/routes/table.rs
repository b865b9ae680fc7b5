//! The table itself. Paths that are asked for most come first; a path with a longer end comes before one that would
//! swallow it.

use failwell_fault::reason;
use serde_json::Value;

use super::shape::Shape;
use super::{Action, Gives, Needs, Place, Route, Speaks, Takes, kept, shapes};
use crate::http::lock::METADATA;

const JSON: &str = "application/json";

/// What most actions have in common.
pub(super) const GET: Action = Action {
    verb: "GET",
    id: "",
    summary: "",
    needs: Needs::Key,
    query: &[],
    takes: Takes::Nothing,
    gives: &[],
    fails: &[],
    speaks: Speaks::Rest,
};
pub(super) const POST: Action = Action { verb: "POST", ..GET };
const OPEN: Action = Action { needs: Needs::Nothing, ..GET };

pub(super) const fn ok(about: &'static str, schema: fn() -> Value) -> Gives {
    Gives { status: 200, about, kind: JSON, schema }
}

pub(super) const fn nothing(status: u16, about: &'static str) -> Gives {
    Gives { status, about, kind: "", schema: shapes::anything }
}

static DECISION: Shape = Shape::of(shapes::decision);

/// Every path of the program.
pub(in super::super) static ROUTES: &[Route] = &[
    Route { place: Place::Mcp, path: "/mcp", actions: MCP },
    Route { place: Place::Rpc, path: "/rpc", actions: RPC },
    Route { place: Place::Tool, path: "/v1/tools/{name*}", actions: TOOL },
    Route { place: Place::Tools, path: "/v1/tools", actions: TOOLS },
    Route { place: Place::Mcp, path: "/mcp/{server}", actions: MCP_SINGLE },
    Route { place: Place::Approvals, path: "/v1/approvals", actions: APPROVALS },
    Route { place: Place::Approval, path: "/v1/approvals/{id}", actions: APPROVAL },
    Route { place: Place::Resources, path: "/v1/resources", actions: kept::RESOURCES },
    Route { place: Place::ResourceMetadata, path: "/v1/resources/{uri*}/metadata", actions: kept::METADATA },
    Route { place: Place::Resource, path: "/v1/resources/{uri*}", actions: kept::RESOURCE },
    Route { place: Place::OpenApi, path: "/openapi.json", actions: DOCUMENT },
    Route { place: Place::Health, path: "/healthz", actions: HEALTH },
    Route { place: Place::Ready, path: "/readyz", actions: READY },
    Route { place: Place::Metrics, path: "/metrics", actions: METRICS },
    Route { place: Place::Metadata, path: METADATA, actions: METADATA_OF_ALL },
    Route { place: Place::Metadata, path: METADATA_PATH, actions: METADATA_OF_ONE },
];

const METADATA_PATH: &str = "/.well-known/oauth-protected-resource/{path*}";

const MESSAGE: Action = Action {
    takes: Takes::AnyJson(shapes::anything),
    gives: &[
        ok("the answer, or a stream of events that ends with it", shapes::message),
        nothing(202, "a notification was taken"),
    ],
    fails: &[
        &reason::HTTP_ACCEPT,
        &reason::RPC_BAD_SHAPE,
        &reason::HTTP_SESSION_REQUIRED,
        &reason::HTTP_SESSION_LOST,
        &reason::MCP_UNKNOWN_METHOD,
    ],
    speaks: Speaks::Mcp,
    ..POST
};
const LISTEN: Action = Action {
    verb: "GET",
    takes: Takes::Nothing,
    gives: &[Gives {
        status: 200,
        about: "what the server has to say",
        kind: "text/event-stream",
        schema: shapes::events,
    }],
    fails: &[
        &reason::HTTP_ACCEPT,
        &reason::HTTP_METHOD,
        &reason::HTTP_SESSION_REQUIRED,
        &reason::HTTP_SESSION_LOST,
    ],
    ..MESSAGE
};
const END: Action = Action { verb: "DELETE", gives: &[nothing(204, "the session is over")], ..LISTEN };

static MCP: &[Action] = &[
    Action { id: "sendMessage", summary: "MCP, all servers: one message", ..MESSAGE },
    Action { id: "listen", summary: "MCP, all servers: what the server has to say in a session", ..LISTEN },
    Action { id: "endMcpSession", summary: "MCP, all servers: end a session", ..END },
];

static MCP_SINGLE: &[Action] = &[
    Action { id: "sendMessageToOne", summary: "MCP, one server: one message", ..MESSAGE },
    Action {
        id: "listenToOne",
        summary: "MCP, one server: what the server has to say in a session",
        ..LISTEN
    },
    Action { id: "endMcpSessionOfOne", summary: "MCP, one server: end a session", ..END },
];

static RPC: &[Action] = &[Action {
    id: "rpc",
    summary: "plain JSON-RPC 2.0, one message or a batch: list_tools, execute_tool, read_resource, every tool by name",
    takes: Takes::AnyJson(shapes::anything),
    gives: &[
        ok("the answer or the answers; failures too", shapes::rpc_answer),
        nothing(204, "notifications only: nothing to say"),
    ],
    speaks: Speaks::Rpc,
    ..POST
}];

static TOOLS: &[Action] = &[Action {
    id: "listTools",
    summary: "every tool with its schemas",
    gives: &[ok("the tools", shapes::tools)],
    ..GET
}];

static TOOL: &[Action] = &[Action {
    id: "callTool",
    summary: "call a tool; the body is its arguments",
    takes: Takes::AnyJson(shapes::object),
    gives: &[ok("the tool's structured result, or its content where it has none", shapes::anything)],
    fails: &[&reason::MCP_UNKNOWN_TOOL, &reason::MCP_BAD_ARGUMENTS],
    ..POST
}];

const FAR: &[&failwell_fault::Reason] =
    &[&reason::POLICY_DENIED, &reason::HTTP_UNKNOWN_PATH, &reason::POLICY_UNDECIDED];

static APPROVALS: &[Action] = &[Action {
    id: "listApprovals",
    summary: "calls that need a person's yes, the latest first",
    gives: &[ok("all that is remembered", shapes::approvals)],
    fails: FAR,
    ..GET
}];

static APPROVAL: &[Action] = &[
    Action {
        id: "getApproval",
        summary: "one of them, with its arguments",
        gives: &[ok("the question and what became of it", shapes::approval)],
        fails: &[&reason::POLICY_DENIED, &reason::POLICY_APPROVAL_UNKNOWN, &reason::POLICY_UNDECIDED],
        ..GET
    },
    Action {
        id: "decideApproval",
        summary: "say yes or no",
        takes: Takes::Json(&DECISION),
        gives: &[ok("the question with its answer", shapes::approval)],
        fails: &[
            &reason::POLICY_DENIED,
            &reason::POLICY_APPROVAL_UNKNOWN,
            &reason::POLICY_APPROVAL_SETTLED,
            &reason::POLICY_UNDECIDED,
        ],
        ..POST
    },
];

static DOCUMENT: &[Action] = &[Action {
    id: "getDocument",
    summary: "this document; with a key, every tool the key may call is in it",
    gives: &[ok("OpenAPI 3.1", shapes::object)],
    ..OPEN
}];

static HEALTH: &[Action] = &[Action {
    id: "getHealth",
    summary: "the process is alive",
    gives: &[ok("it is", shapes::status)],
    ..OPEN
}];

static READY: &[Action] = &[Action {
    id: "getReadiness",
    summary: "new requests are taken",
    gives: &[
        ok("they are", shapes::status),
        Gives { status: 503, about: "the server is shutting down", kind: JSON, schema: shapes::status },
    ],
    ..OPEN
}];

static METRICS: &[Action] = &[Action {
    id: "getMetrics",
    summary: "numbers for Prometheus",
    gives: &[Gives { status: 200, about: "the numbers", kind: "text/plain", schema: shapes::text }],
    ..GET
}];

const TOKENS: Action =
    Action { gives: &[ok("RFC 9728", shapes::object)], fails: &[&reason::HTTP_UNKNOWN_PATH], ..OPEN };
static METADATA_OF_ALL: &[Action] =
    &[Action { id: "getTokenMetadata", summary: "how to get a token, where tokens are taken", ..TOKENS }];
static METADATA_OF_ONE: &[Action] =
    &[Action { id: "getTokenMetadataOf", summary: "how to get a token for one path", ..TOKENS }];
