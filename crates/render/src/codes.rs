//! The table `code = f(reason, dialect, era)`. `docs/errors.md` is generated from it.

use failwell_fault::{Condition, Fault, Kind, Reason};
use failwell_rpc::{Dialect, Era, ExpectedResult, ReplyTo};

/// A JSON-RPC code with its HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The value of `error.code` or `error_code`.
    pub code: i32,
    /// The HTTP status. Stdio does not use it.
    pub status: u16,
}

/// The codes of one condition in each dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// REST. `/rpc` has the same code and always status 200.
    pub rest: Answer,
    /// MCP 2024-11-05 to 2025-11-25.
    pub session: Answer,
    /// MCP 2026-07-28.
    pub modern: Answer,
}

/// The code and status of a reason in a dialect.
pub fn answer(reason: &Reason, dialect: Dialect) -> Answer {
    let row = row(reason);
    match dialect {
        Dialect::Rest(_) => row.rest,
        Dialect::Rpc => Answer { status: 200, ..row.rest },
        Dialect::Mcp(revision) => match revision.era() {
            Era::Session => row.session,
            Era::Modern => row.modern,
        },
    }
}

/// Whether a failed tool call becomes an `isError` result, which the model sees. Clients may hide a protocol
/// error from the model.
pub fn shown_to_the_model(reason: &Reason) -> bool {
    matches!(reason.condition, Condition::ToolFailed | Condition::BadArguments | Condition::ExternalService)
}

/// The code of a failed tool, if the server reports errors instead of results (ADR 0002).
pub fn tool_error(reason: &Reason) -> i32 {
    if reason.condition == Condition::BadArguments { -32602 } else { -32000 }
}

/// The number a caller gets for a fault.
pub fn fault_code(fault: &Fault, to: &ReplyTo) -> i32 {
    match to.asked {
        ExpectedResult::ToolOrError if shown_to_the_model(fault.reason()) => tool_error(fault.reason()),
        _ => answer(fault.reason(), to.dialect).code,
    }
}

pub fn row(reason: &Reason) -> Row {
    let http = status_of(reason.kind);
    match reason.condition {
        Condition::NotJson => same(-32700, 400),
        Condition::BadShape => same(-32600, 400),
        Condition::UnknownMethod => each((-32601, 404), (-32601, 200), (-32601, 404)),
        Condition::BadParams => each((-32602, 422), (-32602, 200), (-32602, 200)),
        Condition::BadMeta => same(-32602, 400),
        Condition::UnknownTool => each((-32601, 404), (-32602, 200), (-32602, 200)),
        Condition::BadArguments => each((-32602, 422), (-32602, 200), (-32602, 200)),
        Condition::ToolFailed => each((rest_code(http), http), (-32603, 200), (application(http), 200)),
        Condition::ResourceNotFound => each((-32800, 404), (-32002, 200), (-32602, 200)),
        Condition::Credentials => each((-32000, 401), (1401, 401), (1401, 401)),
        Condition::InsufficientScope => each((-32001, 403), (-32003, 403), (1403, 403)),
        Condition::NotAllowed => each((-32001, 403), (-32003, 200), (1403, 200)),
        Condition::Blocked => each((-32001, 403), (-32000, 200), (1403, 200)),
        Condition::Configuration => each((-32603, 500), (-32001, 200), (1500, 200)),
        Condition::PluginLoad => each((-32603, 500), (-32002, 200), (1500, 200)),
        Condition::Upstream => each((rest_code(http), http), (-32004, 200), (application(http), 200)),
        Condition::ExternalService => each((rest_code(http), http), (-32001, 200), (application(http), 200)),
        Condition::AuditFailed => each((-32603, 503), (-32005, 200), (1503, 200)),
        Condition::RateLimited => each((-32603, 429), (1429, 429), (1429, 429)),
        Condition::TooLarge => each((-32603, 413), (1413, 413), (1413, 413)),
        Condition::HeaderMismatch => each((-32602, 400), (-32602, 400), (-32020, 400)),
        Condition::MissingCapability => each((-32602, 400), (-32602, 200), (-32021, 400)),
        Condition::UnsupportedVersion => each((-32602, 400), (-32602, 400), (-32022, 400)),
        Condition::NotReady => each((-32600, 409), (-32600, 400), (-32602, 400)),
        Condition::Unavailable => each((-32603, 503), (-32603, 200), (1503, 503)),
        Condition::MethodNotAllowed => same(-32600, 405),
        Condition::ForeignOrigin => each((-32001, 403), (-32003, 403), (1403, 403)),
        Condition::NotAcceptable => same(-32600, 406),
        Condition::MediaType => same(-32600, 415),
        Condition::UnknownPath => same(-32601, 404),
        Condition::SessionRequired => same(-32600, 400),
        Condition::SessionLost => each((-32800, 404), (-32600, 404), (-32600, 404)),
        Condition::Range => same(-32600, 416),
        Condition::SlowBody => same(-32600, 408),
        Condition::HeadTooLarge => same(-32600, 431),
        Condition::TargetTooLong => same(-32600, 414),
        Condition::Cancelled => each((-32603, 499), (-32603, 200), (1499, 200)),
        Condition::Bug => each((rest_code(http), http), (-32603, 200), (-32603, 200)),
    }
}

/// The HTTP status of a kind.
pub fn status_of(kind: Kind) -> u16 {
    match kind {
        Kind::Malformed => 400,
        Kind::Unsupported => 404,
        Kind::Invalid => 422,
        Kind::NotFound => 404,
        Kind::Unauthenticated => 401,
        Kind::Denied => 403,
        Kind::Precondition => 409,
        Kind::Exhausted => 429,
        Kind::Timeout => 504,
        Kind::Cancelled => 499,
        Kind::Unavailable => 503,
        Kind::Broken => 502,
        Kind::Bug => 500,
    }
}

/// The REST code of a status in the device server's record (S4 in docs/sources.md). The things of tools, such as a task or an
/// element, are resources there.
fn rest_code(status: u16) -> i32 {
    match status {
        400 => -32600,
        401 => -32000,
        403 => -32001,
        404 => -32800,
        422 => -32602,
        _ => -32603,
    }
}

/// MCP 2026-07-28 closed −32000…−32019 to new codes and reserves the rest up to −32099. The modern era's
/// application codes are therefore 1000 plus the HTTP status (ADR 0010).
fn application(status: u16) -> i32 {
    1000 + i32::from(status)
}

fn same(code: i32, status: u16) -> Row {
    each((code, status), (code, status), (code, status))
}

fn each(rest: (i32, u16), session: (i32, u16), modern: (i32, u16)) -> Row {
    let answer = |(code, status)| Answer { code, status };
    Row { rest: answer(rest), session: answer(session), modern: answer(modern) }
}
