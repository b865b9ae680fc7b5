//! The paths of the operator's API: approvals, stored files, sessions, keys, operations and events. A path with a suffix comes
//! before a path that would also match it.

use failwell_fault::{Reason, reason};
use failwell_rpc::Role;
use failwell_transport::paths::{
    AcceptedBody, Action, DELETE, GET, Handler, POST, PUT, Query, RequiredAccess, Route, RoutePlace, Shape,
    SuccessResponse, created, nothing, ok,
};
use serde_json::json;

use crate::stored_file_routes as files;
use crate::{admin, approvals, events, shapes};

static DECISION: Shape = Shape::of(shapes::decision);
static SESSION_TERMS: Shape = Shape::of(shapes::session_terms);
static ITEM: Shape = Shape::of(shapes::new_item);
static WANTED_KEY: Shape = Shape::of(shapes::wanted_key);

/// All of them.
pub static ROUTES: &[Route] = &[
    Route { place: RoutePlace::Other, path: "/v1/approvals", actions: APPROVALS },
    Route { place: RoutePlace::Other, path: "/v1/approvals/{id}", actions: APPROVAL },
    Route { place: RoutePlace::Other, path: "/v1/resources", actions: files::RESOURCES },
    Route { place: RoutePlace::Other, path: "/v1/resources/{uri*}/metadata", actions: files::METADATA },
    Route { place: RoutePlace::Other, path: "/v1/resources/{uri*}", actions: files::RESOURCE },
    Route { place: RoutePlace::Other, path: "/v1/me", actions: ME },
    Route { place: RoutePlace::Other, path: "/v1/sessions", actions: SESSIONS },
    Route { place: RoutePlace::Other, path: "/v1/sessions/{id}", actions: SESSION },
    Route { place: RoutePlace::Other, path: "/v1/sessions/{id}/heartbeat", actions: HEARTBEAT },
    Route { place: RoutePlace::Other, path: "/v1/sessions/{id}/context/{key}", actions: CONTEXT_ITEM },
    Route { place: RoutePlace::Other, path: "/v1/keys", actions: KEYS },
    Route { place: RoutePlace::Other, path: "/v1/keys/{id}", actions: KEY },
    Route { place: RoutePlace::Other, path: "/v1/servers", actions: SERVERS },
    Route { place: RoutePlace::Other, path: "/v1/operations", actions: OPERATIONS },
    Route { place: RoutePlace::Other, path: "/v1/events", actions: EVENTS },
];

const FAR: &[&Reason] = &[&reason::POLICY_DENIED, &reason::HTTP_UNKNOWN_PATH, &reason::POLICY_UNDECIDED];

static APPROVALS: &[Action] = &[Action {
    id: "listApprovals",
    handler: Handler::Call(approvals::list),
    summary: "list calls that need human approval, latest first",
    responses: &[ok("the approvals", shapes::approvals)],
    fails: FAR,
    ..GET
}];

static APPROVAL: &[Action] = &[
    Action {
        id: "getApproval",
        handler: Handler::Call(approvals::show),
        summary: "read one approval, with the arguments of its call",
        responses: &[ok("the approval and its state", shapes::approval)],
        fails: &[&reason::POLICY_DENIED, &reason::POLICY_APPROVAL_UNKNOWN, &reason::POLICY_UNDECIDED],
        ..GET
    },
    Action {
        id: "decideApproval",
        handler: Handler::Call(approvals::answer),
        summary: "approve or deny a call",
        accepts: AcceptedBody::Json(&DECISION),
        responses: &[ok("the decided approval", shapes::approval)],
        fails: &[
            &reason::POLICY_DENIED,
            &reason::POLICY_APPROVAL_UNKNOWN,
            &reason::POLICY_APPROVAL_SETTLED,
            &reason::POLICY_UNDECIDED,
        ],
        ..POST
    },
];

static ME: &[Action] = &[Action {
    id: "getMe",
    handler: Handler::Call(admin::me),
    summary: "read the name and the roles of the caller",
    responses: &[ok("the caller", shapes::me)],
    ..GET
}];

static SESSIONS: &[Action] = &[
    Action {
        id: "listSessions",
        handler: Handler::Call(admin::list_sessions),
        summary: "list the caller's sessions, oldest first",
        responses: &[ok("the sessions", shapes::sessions)],
        fails: &[&reason::SERVER_STATE],
        ..GET
    },
    Action {
        id: "openSession",
        handler: Handler::Call(admin::open_session),
        summary: "open a session; it expires after its ttl unless it is renewed",
        accepts: AcceptedBody::Json(&SESSION_TERMS),
        responses: &[created("the session", shapes::session)],
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
        handler: Handler::Call(admin::show_session),
        summary: "read one session",
        responses: &[ok("the session", shapes::session)],
        fails: SESSION_FAILS,
        ..GET
    },
    Action {
        id: "renewSession",
        handler: Handler::Call(admin::renew_session),
        summary: "change the ttl or the metadata; the ttl starts again",
        accepts: AcceptedBody::Json(&SESSION_TERMS),
        responses: &[ok("the session", shapes::session)],
        fails: CHANGE_FAILS,
        ..PUT
    },
    Action {
        id: "endSession",
        handler: Handler::Call(admin::end_session),
        summary: "end a session",
        responses: &[nothing(204, "ended")],
        fails: SESSION_FAILS,
        ..DELETE
    },
];

static HEARTBEAT: &[Action] = &[Action {
    id: "keepSession",
    handler: Handler::Call(admin::heartbeat),
    summary: "renew a session: the ttl starts again",
    responses: &[ok("the session", shapes::session)],
    fails: SESSION_FAILS,
    ..POST
}];

static CONTEXT_ITEM: &[Action] = &[
    Action {
        id: "getContext",
        handler: Handler::Call(admin::read_item),
        summary: "read the value of a key in a session",
        responses: &[ok("the value", shapes::item)],
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
        handler: Handler::Call(admin::put_item),
        summary: "store a value under a key; the ttl of the session starts again",
        accepts: AcceptedBody::Json(&ITEM),
        responses: &[ok("the session", shapes::session)],
        fails: CHANGE_FAILS,
        ..PUT
    },
];

const KEY_STORE: &[&Reason] = &[&reason::POLICY_KEYS_AWAY];

static KEYS: &[Action] = &[
    Action {
        id: "listKeys",
        handler: Handler::Call(admin::list_keys),
        summary: "list API keys, without their secrets",
        access: RequiredAccess::Role(Role::Admin),
        responses: &[ok("the keys", shapes::keys)],
        fails: KEY_STORE,
        ..GET
    },
    Action {
        id: "makeKey",
        handler: Handler::Call(admin::make_key),
        summary: "create an API key; its secret is shown only once",
        access: RequiredAccess::Role(Role::Admin),
        accepts: AcceptedBody::Json(&WANTED_KEY),
        responses: &[created("the key", shapes::new_key)],
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
    handler: Handler::Call(admin::revoke_key),
    summary: "revoke an API key",
    access: RequiredAccess::Role(Role::Admin),
    responses: &[nothing(204, "revoked")],
    fails: &[&reason::POLICY_KEY_UNKNOWN, &reason::POLICY_LAST_ADMIN, &reason::POLICY_KEYS_AWAY],
    ..DELETE
}];

static SERVERS: &[Action] = &[Action {
    id: "listServers",
    handler: Handler::Call(admin::servers),
    summary: "list the servers with their state and their last failure",
    access: RequiredAccess::Role(Role::Developer),
    responses: &[ok("the servers", shapes::servers)],
    ..GET
}];

static OPERATIONS: &[Action] = &[Action {
    id: "listOperations",
    handler: Handler::Call(admin::operations),
    summary: "list recent operations, latest first",
    access: RequiredAccess::Role(Role::Developer),
    query: &[
        Query {
            name: "limit",
            about: "maximum number of items",
            schema: || json!({"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}),
        },
        Query {
            name: "failed",
            about: "only failed operations",
            schema: || json!({"type": "boolean", "default": false}),
        },
    ],
    responses: &[ok("the exchanges", shapes::operations)],
    ..GET
}];

static EVENTS: &[Action] = &[Action {
    id: "listenToEvents",
    handler: Handler::Custom(events::events),
    summary: "stream events: `system`, `operation` and `progress`; Last-Event-ID resumes the stream",
    access: RequiredAccess::Role(Role::Developer),
    responses: &[SuccessResponse {
        status: 200,
        about: "events",
        kind: "text/event-stream",
        schema: shapes::events,
    }],
    fails: &[&reason::HTTP_TOO_MANY_LISTENERS],
    ..GET
}];
