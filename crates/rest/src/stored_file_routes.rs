//! The actions of `/v1/resources`.

use failwell_fault::{Reason, reason};
use serde_json::{Value, json};

use failwell_transport::paths::{
    AcceptedBody, Action, DELETE, GET, Handler, POST, Query, Shape, SuccessResponse, created, nothing, ok,
};

use crate::{download, shapes, stored_files, upload};

const ONE: &[&Reason] = &[
    &reason::SHELF_BAD_URI,
    &reason::MCP_UNKNOWN_RESOURCE,
    &reason::POLICY_DENIED,
    &reason::SHELF_TROUBLE,
    &reason::SERVER_TIMEOUT,
    &reason::SERVER_BUSY,
];

static CHANGES: Shape = Shape::of(shapes::object);

const TYPE: Query =
    Query { name: "type", about: "only of this type", schema: || json!({"type": "string", "pattern": KIND}) };
const CURSOR: Query = Query {
    name: "cursor",
    about: "where the page before ended: its next_cursor",
    schema: || json!({"type": "string"}),
};
const LIMIT: Query = Query {
    name: "limit",
    about: "how many at the most",
    schema: || json!({"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}),
};
const METADATA_ONLY: Query = Query {
    name: "metadata_only",
    about: "what is known of a kept resource rather than its bytes",
    schema: || json!({"type": "boolean", "default": false}),
};
const DOWNLOAD: Query = Query {
    name: "download",
    about: "to be saved rather than shown",
    schema: || json!({"type": "boolean", "default": false}),
};

const KIND: &str = "^[a-z][a-z0-9_-]{0,31}$";

pub(crate) static RESOURCES: &[Action] = &[
    Action {
        id: "listResources",
        handler: Handler::Call(stored_files::list),
        summary: "what is kept, the latest first",
        query: &[TYPE, CURSOR, LIMIT],
        responses: &[ok("one page", page)],
        fails: &[
            &reason::MCP_BAD_CURSOR,
            &reason::SHELF_BAD_NAME,
            &reason::HTTP_UNKNOWN_PATH,
            &reason::SHELF_TROUBLE,
            &reason::SERVER_TIMEOUT,
            &reason::SERVER_BUSY,
        ],
        ..GET
    },
    Action {
        id: "uploadResource",
        handler: Handler::Custom(upload::upload),
        summary: "keep a file",
        accepts: AcceptedBody::Form(form),
        responses: &[created("it is kept", stored_file_schema)],
        fails: &[
            &reason::HTTP_INVALID,
            &reason::SHELF_BAD_NAME,
            &reason::SHELF_BAD_MULTIPART,
            &reason::SHELF_CUT_OFF,
            &reason::SHELF_TOO_LARGE,
            &reason::SHELF_FULL,
            &reason::SHELF_CROWDED,
            &reason::SHELF_METADATA,
            &reason::SHELF_DISK_FULL,
            &reason::POLICY_DENIED,
            &reason::POLICY_BLOCKED,
            &reason::HTTP_UNKNOWN_PATH,
            &reason::SHELF_TROUBLE,
            &reason::SERVER_TIMEOUT,
            &reason::SERVER_BUSY,
        ],
        ..POST
    },
];

pub(crate) static RESOURCE: &[Action] = &[
    Action {
        id: "getResource",
        handler: Handler::Custom(download::download),
        summary: "the bytes of a kept resource, or what a server's resource holds",
        query: &[METADATA_ONLY, DOWNLOAD],
        responses: &[
            SuccessResponse {
                status: 200,
                about: "the bytes, or JSON",
                kind: "*/*",
                schema: shapes::anything,
            },
            SuccessResponse {
                status: 206,
                about: "the part a Range asked for",
                kind: "*/*",
                schema: shapes::anything,
            },
            nothing(304, "the client has it already"),
        ],
        fails: &[
            &reason::SHELF_BAD_URI,
            &reason::MCP_UNKNOWN_RESOURCE,
            &reason::SHELF_RANGE,
            &reason::SERVER_TOO_LARGE,
            &reason::POLICY_DENIED,
            &reason::POLICY_BLOCKED,
            &reason::SHELF_TROUBLE,
            &reason::SERVER_TIMEOUT,
            &reason::SERVER_BUSY,
        ],
        ..GET
    },
    Action {
        id: "removeResource",
        handler: Handler::Call(stored_files::remove),
        summary: "remove a kept resource",
        responses: &[nothing(204, "it is gone")],
        fails: ONE,
        ..DELETE
    },
];

pub(crate) static METADATA: &[Action] = &[
    Action {
        id: "getResourceMetadata",
        handler: Handler::Call(stored_files::describe),
        summary: "what is known of a kept resource",
        responses: &[ok("what is known of it", stored_file_schema)],
        fails: ONE,
        ..GET
    },
    Action {
        verb: "PATCH",
        id: "editResourceMetadata",
        handler: Handler::Call(stored_files::edit),
        summary: "change metadata member by member; null takes one away",
        accepts: AcceptedBody::Json(&CHANGES),
        responses: &[ok("what is known of it now", stored_file_schema)],
        fails: &[
            &reason::SHELF_BAD_URI,
            &reason::MCP_UNKNOWN_RESOURCE,
            &reason::SHELF_METADATA,
            &reason::POLICY_DENIED,
            &reason::POLICY_BLOCKED,
            &reason::SHELF_TROUBLE,
            &reason::SERVER_TIMEOUT,
            &reason::SERVER_BUSY,
        ],
        ..GET
    },
];

fn form() -> Value {
    json!({
        "type": "object",
        "required": ["file", "type"],
        "properties": {
            "file": {"type": "string", "format": "binary"},
            "type": {"type": "string", "pattern": KIND},
            "ttl": {"type": "integer", "minimum": 1, "description": "seconds"},
            "metadata": {"type": "string", "contentMediaType": "application/json", "description": "a JSON object"},
        },
        "additionalProperties": false,
    })
}

fn page() -> Value {
    json!({
        "type": "object",
        "required": ["resources"],
        "properties": {
            "resources": {"type": "array", "items": stored_file_schema()},
            "next_cursor": {"type": "string"},
        },
    })
}

fn stored_file_schema() -> Value {
    json!({
        "type": "object",
        "required": ["uri", "type", "sha256", "size", "media_type", "created", "expires", "metadata"],
        "properties": {
            "uri": {"type": "string"},
            "type": {"type": "string", "pattern": KIND},
            "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "size": {"type": "integer", "minimum": 0},
            "media_type": {"type": "string"},
            "created": {"type": "string", "format": "date-time"},
            "expires": {"type": "string", "format": "date-time"},
            "metadata": {"type": "object"},
        },
    })
}
