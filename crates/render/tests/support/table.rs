//! The code table again as data, copied from the specifications and not from the renderer. It checks
//! `codes.rs` without sharing its logic.

use failwell_fault::{Condition, Kind};

/// An expected number. It can depend on the HTTP status of the reason's kind.
#[derive(Clone, Copy)]
pub(crate) enum Number {
    Is(i32),
    OfKind,
    /// 1000 plus the HTTP status of the kind.
    OfKindPlus1000,
    /// The code of the status in the table of the device server's record (S4 in docs/sources.md), otherwise that of
    /// internal errors.
    OfRecord,
}

use Number::{Is, OfKind, OfKindPlus1000, OfRecord};

/// Statuses and codes of the record. Of the two codes of 404, tools have that of things that are not found.
const RECORD: [(i32, i32); 5] = [(400, -32600), (401, -32000), (403, -32001), (404, -32800), (422, -32602)];

/// Code and status for REST (`/rpc` has the same code), the session era and the modern era.
pub(crate) struct CodeRow {
    pub(crate) condition: Condition,
    pub(crate) rest: (Number, Number),
    pub(crate) session: (Number, Number),
    pub(crate) modern: (Number, Number),
}

const fn row(condition: Condition, rest: (i32, i32), session: (i32, i32), modern: (i32, i32)) -> CodeRow {
    CodeRow {
        condition,
        rest: (Is(rest.0), Is(rest.1)),
        session: (Is(session.0), Is(session.1)),
        modern: (Is(modern.0), Is(modern.1)),
    }
}

/// The HTTP status of each kind, from the table of kinds in `docs/errors.md`.
pub(crate) const STATUS_OF_KIND: [(Kind, i32); 13] = [
    (Kind::Malformed, 400),
    (Kind::Unsupported, 404),
    (Kind::Invalid, 422),
    (Kind::NotFound, 404),
    (Kind::Unauthenticated, 401),
    (Kind::Denied, 403),
    (Kind::Precondition, 409),
    (Kind::Exhausted, 429),
    (Kind::Timeout, 504),
    (Kind::Cancelled, 499),
    (Kind::Unavailable, 503),
    (Kind::Broken, 502),
    (Kind::Bug, 500),
];

/// In-band errors of MCP have HTTP status 200 in both eras, unless the specification names another.
pub(crate) const TABLE: [CodeRow; 38] = [
    row(Condition::NotJson, (-32700, 400), (-32700, 400), (-32700, 400)),
    row(Condition::BadShape, (-32600, 400), (-32600, 400), (-32600, 400)),
    row(Condition::UnknownMethod, (-32601, 404), (-32601, 200), (-32601, 404)),
    row(Condition::BadParams, (-32602, 422), (-32602, 200), (-32602, 200)),
    row(Condition::BadMeta, (-32602, 400), (-32602, 400), (-32602, 400)),
    row(Condition::UnknownTool, (-32601, 404), (-32602, 200), (-32602, 200)),
    row(Condition::BadArguments, (-32602, 422), (-32602, 200), (-32602, 200)),
    CodeRow {
        condition: Condition::ToolFailed,
        rest: (OfRecord, OfKind),
        session: (Is(-32603), Is(200)),
        modern: (OfKindPlus1000, Is(200)),
    },
    row(Condition::ResourceNotFound, (-32800, 404), (-32002, 200), (-32602, 200)),
    row(Condition::Credentials, (-32000, 401), (1401, 401), (1401, 401)),
    row(Condition::InsufficientScope, (-32001, 403), (-32003, 403), (1403, 403)),
    row(Condition::NotAllowed, (-32001, 403), (-32003, 200), (1403, 200)),
    row(Condition::Blocked, (-32001, 403), (-32000, 200), (1403, 200)),
    row(Condition::Configuration, (-32603, 500), (-32001, 200), (1500, 200)),
    row(Condition::PluginLoad, (-32603, 500), (-32002, 200), (1500, 200)),
    CodeRow {
        condition: Condition::Upstream,
        rest: (OfRecord, OfKind),
        session: (Is(-32004), Is(200)),
        modern: (OfKindPlus1000, Is(200)),
    },
    CodeRow {
        condition: Condition::ExternalService,
        rest: (OfRecord, OfKind),
        session: (Is(-32001), Is(200)),
        modern: (OfKindPlus1000, Is(200)),
    },
    row(Condition::AuditFailed, (-32603, 503), (-32005, 200), (1503, 200)),
    row(Condition::RateLimited, (-32603, 429), (1429, 429), (1429, 429)),
    row(Condition::TooLarge, (-32603, 413), (1413, 413), (1413, 413)),
    row(Condition::HeaderMismatch, (-32602, 400), (-32602, 400), (-32020, 400)),
    row(Condition::MissingCapability, (-32602, 400), (-32602, 200), (-32021, 400)),
    row(Condition::UnsupportedVersion, (-32602, 400), (-32602, 400), (-32022, 400)),
    row(Condition::NotReady, (-32600, 409), (-32600, 400), (-32602, 400)),
    row(Condition::Unavailable, (-32603, 503), (-32603, 200), (1503, 503)),
    row(Condition::MethodNotAllowed, (-32600, 405), (-32600, 405), (-32600, 405)),
    row(Condition::ForeignOrigin, (-32001, 403), (-32003, 403), (1403, 403)),
    row(Condition::NotAcceptable, (-32600, 406), (-32600, 406), (-32600, 406)),
    row(Condition::MediaType, (-32600, 415), (-32600, 415), (-32600, 415)),
    row(Condition::UnknownPath, (-32601, 404), (-32601, 404), (-32601, 404)),
    row(Condition::SessionRequired, (-32600, 400), (-32600, 400), (-32600, 400)),
    row(Condition::SessionLost, (-32800, 404), (-32600, 404), (-32600, 404)),
    row(Condition::Range, (-32600, 416), (-32600, 416), (-32600, 416)),
    row(Condition::SlowBody, (-32600, 408), (-32600, 408), (-32600, 408)),
    row(Condition::HeadTooLarge, (-32600, 431), (-32600, 431), (-32600, 431)),
    row(Condition::TargetTooLong, (-32600, 414), (-32600, 414), (-32600, 414)),
    // MCP does not respond to a cancelled request. The numbers are for the manual.
    row(Condition::Cancelled, (-32603, 499), (-32603, 200), (1499, 200)),
    CodeRow {
        condition: Condition::Bug,
        rest: (OfRecord, OfKind),
        session: (Is(-32603), Is(200)),
        modern: (Is(-32603), Is(200)),
    },
];

impl Number {
    /// The number for a reason of this kind.
    pub(crate) fn of(self, kind: Kind) -> i32 {
        let status =
            STATUS_OF_KIND.iter().find(|(known, _)| *known == kind).expect("every kind has a status").1;
        match self {
            Is(number) => number,
            OfKind => status,
            OfKindPlus1000 => 1000 + status,
            OfRecord => RECORD.iter().find(|(known, _)| *known == status).map_or(-32603, |(_, code)| *code),
        }
    }
}
