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

const TYPE: Query = Query {
    name: "type",
    about: "only resources of this type",
    schema: || json!({"type": "string", "pattern": KIND}),
};
const CURSOR: Query =
    Query { name: "cursor", about: "next_cursor of the previous page", schema: || json!({"type": "string"}) };
const LIMIT: Query = Query {
    name: "limit",
    about: "maximum number of items",
    schema: || json!({"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}),
};
const METADATA_ONLY: Query = Query {
    name: "metadata_only",
    about: "return the metadata instead of the bytes",
    schema: || json!({"type": "boolean", "default": false}),
};
const DOWNLOAD: Query = Query {
    name: "download",
    about: "send Content-Disposition: attachment",
    schema: || json!({"type": "boolean", "default": false}),
};

const KIND: &str = "^[a-z][a-z0-9_-]{0,31}$";

pub(crate) static RESOURCES: &[Action] = &[
    Action {
        id: "listResources",
        handler: Handler::Call(stored_files::list),
        summary: "list stored resources, latest first",
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
        summary: "store a file",
        accepts: AcceptedBody::Form(form),
        responses: &[created("the stored resource", stored_file_schema)],
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
        summary: "read a stored resource, or a resource of a server",
        query: &[METADATA_ONLY, DOWNLOAD],
        responses: &[
            SuccessResponse {
                status: 200,
                about: "the bytes; with metadata_only, or for a resource of a server, JSON",
                kind: "*/*",
                schema: shapes::anything,
            },
            SuccessResponse {
                status: 206,
                about: "the requested range",
                kind: "*/*",
                schema: shapes::anything,
            },
            nothing(304, "the client's copy is current"),
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
        summary: "delete a stored resource",
        responses: &[nothing(204, "deleted")],
        fails: ONE,
        ..DELETE
    },
];

pub(crate) static METADATA: &[Action] = &[
    Action {
        id: "getResourceMetadata",
        handler: Handler::Call(stored_files::describe),
        summary: "read the metadata of a stored resource",
        responses: &[ok("the metadata", stored_file_schema)],
        fails: ONE,
        ..GET
    },
    Action {
        verb: "PATCH",
        id: "editResourceMetadata",
        handler: Handler::Call(stored_files::edit),
        summary: "change members of the metadata; null removes a member",
        accepts: AcceptedBody::Json(&CHANGES),
        responses: &[ok("the new metadata", stored_file_schema)],
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
