//! The code table: one row per condition, one column per dialect.

use failwell_fault::{Condition, Reason, ReasonRegistry};
use failwell_render::codes::{Answer, Row, row, shown_to_the_model};

const HEADING: &str = "\
## Codes

`/rpc` has the REST column's code and always HTTP 200. Session: MCP 2024-11-05 to 2025-11-25. Modern: MCP 2026-07-28.
Several numbers in one cell: it depends on the kind of the reason.

| condition | REST code, HTTP | MCP session code, HTTP | MCP modern code, HTTP |
|---|---|---|---|
";

/// The table.
pub(super) fn table(registry: &ReasonRegistry) -> String {
    Condition::ALL.into_iter().fold(HEADING.to_owned(), |text, condition| text + &line(condition, registry))
}

fn line(condition: Condition, registry: &ReasonRegistry) -> String {
    let reasons: Vec<&Reason> = registry.iter().filter(|reason| reason.condition == condition).collect();
    let cell = |of: fn(Row) -> Answer| cell(&reasons, of);
    let (rest, session, modern) = (cell(|row| row.rest), cell(|row| row.session), cell(|row| row.modern));
    let name = name(condition);
    if condition == Condition::Cancelled {
        return format!("| {name} | {rest} | silence | silence |\n");
    }
    let shown = reasons.iter().any(|reason| shown_to_the_model(reason));
    let from_tool = if shown { "; from a tool call an `isError` result" } else { "" };
    format!("| {name} | {rest} | {session}{from_tool} | {modern}{from_tool} |\n")
}

/// The different answers of a condition's reasons in one dialect.
fn cell(reasons: &[&Reason], of: fn(Row) -> Answer) -> String {
    let answers: Vec<Answer> = reasons.iter().map(|reason| of(row(reason))).collect();
    format!("{}, {}", several(answers.iter().map(|a| a.code)), several(answers.iter().map(|a| a.status)))
}

fn several<T: ToString>(numbers: impl Iterator<Item = T>) -> String {
    let mut texts: Vec<String> = numbers.map(|number| number.to_string()).collect();
    texts.sort();
    texts.dedup();
    texts.join("/")
}

/// The condition in the manual's words.
fn name(condition: Condition) -> &'static str {
    match condition {
        Condition::NotJson => "not JSON",
        Condition::BadShape => "not a message of the protocol",
        Condition::UnknownMethod => "unknown method",
        Condition::BadParams => "method params wrong",
        Condition::BadMeta => "per-request `_meta` missing or wrong",
        Condition::UnknownTool => "unknown tool",
        Condition::BadArguments => "tool arguments fail the tool's schema",
        Condition::ToolFailed => "the tool failed",
        Condition::ResourceNotFound => "resource not found",
        Condition::Credentials => "missing or bad credentials",
        Condition::InsufficientScope => "token lacks a required scope",
        Condition::NotAllowed => "not allowed",
        Condition::Blocked => "blocked by content policy",
        Condition::Configuration => "configuration error",
        Condition::PluginLoad => "an extension failed to load",
        Condition::Upstream => "upstream down, crashed or late, or its response invalid",
        Condition::ExternalService => {
            "a service behind a tool server down or refusing, or its response invalid"
        }
        Condition::AuditFailed => "audit record could not be written",
        Condition::RateLimited => "too many requests",
        Condition::TooLarge => "body too large",
        Condition::HeaderMismatch => "header and body disagree",
        Condition::MissingCapability => "client capability missing",
        Condition::UnsupportedVersion => "unsupported protocol version",
        Condition::NotReady => "something else must happen first",
        Condition::Unavailable => "shutting down or not there yet",
        Condition::MethodNotAllowed => "HTTP method not allowed",
        Condition::ForeignOrigin => "foreign host or origin",
        Condition::NotAcceptable => "no supported content type accepted",
        Condition::MediaType => "body of another type",
        Condition::UnknownPath => "unknown path",
        Condition::SessionRequired => "session required",
        Condition::SessionLost => "session gone",
        Condition::Range => "range outside the resource",
        Condition::SlowBody => "body did not arrive in time",
        Condition::HeadTooLarge => "head is too large",
        Condition::TargetTooLong => "target is too long",
        Condition::Cancelled => "cancelled by the caller",
        Condition::Bug => "our own bug",
    }
}
