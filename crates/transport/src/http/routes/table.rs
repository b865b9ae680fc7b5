//! The table itself. Paths that are asked for most come first; a path with a longer end comes before one that would
//! swallow it.

use failwell_fault::{Reason, reason};
use failwell_policy::Role;
use serde_json::{Value, json};

use super::shape::Shape;
use super::{Action, Gives, Needs, Place, Query, Route, Speaks, Takes, kept, shapes};
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
const PUT: Action = Action { verb: "PUT", ..GET };
pub(super) const DELETE: Action = Action { verb: "DELETE", ..GET };
const OPEN: Action = Action { needs: Needs::Nothing, ..GET };

pub(super) const fn ok(about: &'static str, schema: fn() -> Value) -> Gives {
    Gives { status: 200, about, kind: JSON, schema }
}

pub(super) const fn created(about: &'static str, schema: fn() -> Value) -> Gives {
    Gives { status: 201, about, kind: JSON, schema }
}

pub(super) const fn nothing(status: u16, about: &'static str) -> Gives {
    Gives { status, about, kind: "", schema: shapes::anything }
}

static DECISION: Shape = Shape::of(shapes::decision);
static SESSION_TERMS: Shape = Shape::of(shapes::session_terms);
static ITEM: Shape = Shape::of(shapes::new_item);
static WANTED_KEY: Shape = Shape::of(shapes::wanted_key);

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
    Route { place: Place::Me, path: "/v1/me", actions: ME },
    Route { place: Place::Sessions, path: "/v1/sessions", actions: SESSIONS },
    Route { place: Place::Session, path: "/v1/sessions/{id}", actions: SESSION },
    Route { place: Place::Heartbeat, path: "/v1/sessions/{id}/heartbeat", actions: HEARTBEAT },
    Route { place: Place::ContextItem, path: "/v1/sessions/{id}/context/{key}", actions: CONTEXT_ITEM },
    Route { place: Place::Keys, path: "/v1/keys", actions: KEYS },
    Route { place: Place::Key, path: "/v1/keys/{id}", actions: KEY },
    Route { place: Place::Operations, path: "/v1/operations", actions: OPERATIONS },
    Route { place: Place::Events, path: "/v1/events", actions: EVENTS },
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

const FAR: &[&Reason] = &[&reason::POLICY_DENIED, &reason::HTTP_UNKNOWN_PATH, &reason::POLICY_UNDECIDED];

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

static ME: &[Action] = &[Action {
    id: "getMe",
    summary: "who the caller is, and in which roles",
    gives: &[ok("the caller", shapes::me)],
    ..GET
}];

static SESSIONS: &[Action] = &[
    Action {
        id: "listSessions",
        summary: "the caller's sessions, the oldest first",
        gives: &[ok("the sessions", shapes::sessions)],
        fails: &[&reason::SERVER_STATE],
        ..GET
    },
    Action {
        id: "openSession",
        summary: "open a session, which lasts for its ttl unless something keeps it",
        takes: Takes::Json(&SESSION_TERMS),
        gives: &[created("the session", shapes::session)],
        fails: &[
            &reason::SERVER_SESSIONS_FULL,
            &reason::SERVER_SESSION_TOO_LARGE,
            BLOCKED,
            &reason::SERVER_STATE,
        ],
        ..POST
    },
];

const SESSION_FAILS: &[&Reason] = &[&reason::SERVER_SESSION_UNKNOWN, &reason::SERVER_STATE];
const CHANGE_FAILS: &[&Reason] =
    &[&reason::SERVER_SESSION_UNKNOWN, &reason::SERVER_SESSION_TOO_LARGE, BLOCKED, &reason::SERVER_STATE];
const BLOCKED: &Reason = &reason::POLICY_BLOCKED;

static SESSION: &[Action] = &[
    Action {
        id: "getSession",
        summary: "one session",
        gives: &[ok("the session", shapes::session)],
        fails: SESSION_FAILS,
        ..GET
    },
    Action {
        id: "renewSession",
        summary: "another ttl or other metadata; its time begins anew",
        takes: Takes::Json(&SESSION_TERMS),
        gives: &[ok("the session", shapes::session)],
        fails: CHANGE_FAILS,
        ..PUT
    },
    Action {
        id: "endSession",
        summary: "end a session",
        gives: &[nothing(204, "it is over")],
        fails: SESSION_FAILS,
        ..DELETE
    },
];

static HEARTBEAT: &[Action] = &[Action {
    id: "keepSession",
    summary: "let a session go on: its time begins anew",
    gives: &[ok("the session", shapes::session)],
    fails: SESSION_FAILS,
    ..POST
}];

static CONTEXT_ITEM: &[Action] = &[
    Action {
        id: "getContext",
        summary: "what a session keeps under a key",
        gives: &[ok("the value", shapes::item)],
        fails: &[
            &reason::SERVER_SESSION_UNKNOWN,
            &reason::SERVER_CONTEXT_UNKNOWN,
            &reason::HTTP_INVALID,
            &reason::SERVER_STATE,
        ],
        ..GET
    },
    Action {
        id: "putContext",
        summary: "keep something under a key; the session's time begins anew",
        takes: Takes::Json(&ITEM),
        gives: &[ok("the session", shapes::session)],
        fails: CHANGE_FAILS,
        ..PUT
    },
];

const KEY_STORE: &[&Reason] = &[&reason::POLICY_KEYS_AWAY];

static KEYS: &[Action] = &[
    Action {
        id: "listKeys",
        summary: "the keys that were made; never the keys themselves",
        needs: Needs::Role(Role::Admin),
        gives: &[ok("the keys", shapes::keys)],
        fails: KEY_STORE,
        ..GET
    },
    Action {
        id: "makeKey",
        summary: "make a key; it is shown this once",
        needs: Needs::Role(Role::Admin),
        takes: Takes::Json(&WANTED_KEY),
        gives: &[created("the key", shapes::new_key)],
        fails: &[
            &reason::POLICY_KEY_TAKEN,
            &reason::POLICY_KEYS_OFF,
            &reason::POLICY_KEYS_FULL,
            &reason::POLICY_KEYS_AWAY,
        ],
        ..POST
    },
];

static KEY: &[Action] = &[Action {
    id: "revokeKey",
    summary: "take a key back: it opens nothing from now on",
    needs: Needs::Role(Role::Admin),
    gives: &[nothing(204, "it is taken back")],
    fails: &[&reason::POLICY_KEY_UNKNOWN, &reason::POLICY_LAST_ADMIN, &reason::POLICY_KEYS_AWAY],
    ..DELETE
}];

static OPERATIONS: &[Action] = &[Action {
    id: "listOperations",
    summary: "what happened lately, the latest first",
    needs: Needs::Role(Role::Developer),
    query: &[
        Query {
            name: "limit",
            about: "how many at the most",
            schema: || json!({"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}),
        },
        Query {
            name: "failed",
            about: "only those that failed",
            schema: || json!({"type": "boolean", "default": false}),
        },
    ],
    gives: &[ok("the exchanges", shapes::operations)],
    ..GET
}];

static EVENTS: &[Action] = &[Action {
    id: "listenToEvents",
    summary: "what happens, as it happens: `system`, `operation` and `progress`; Last-Event-ID brings back what was missed",
    needs: Needs::Role(Role::Developer),
    gives: &[Gives { status: 200, about: "events", kind: "text/event-stream", schema: shapes::events }],
    fails: &[&reason::HTTP_TOO_MANY_LISTENERS],
    ..GET
}];
