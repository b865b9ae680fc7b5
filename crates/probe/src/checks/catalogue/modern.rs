//! Checks of 2026-07-28: `_meta` in every request, headers that repeat the body, new error codes.

use super::{METHOD_NOT_FOUND, PARAMS, SHAPE};
use crate::checks::check::{Check, Expectation, ExpectedRefusal, Severity};
use crate::checks::procedure::Procedure;
use crate::checks::verdict::Verdict;
use crate::connection::HeaderEdit;
use crate::connection::exchange::{Exchange, ServerAnswer};
use crate::target::Transport::Http;

const LIST: &str = r#"{"jsonrpc":"2.0","id":$ID,"method":"server/discover","params":{$META}}"#;
const META_RULE: &str = "MCP 2026-07-28 basic, _meta: a missing required key is −32602, over HTTP with 400";
const HEADER_RULE: &str =
    "MCP 2026-07-28 streamable HTTP: headers that are missing or differ from the body are −32020 with 400";
const VERSION_RULE: &str = "MCP 2026-07-28 versioning: −32022 with data.supported, over HTTP with 400";

const MISSING_META: Expectation = Expectation::Refusal(ExpectedRefusal { statuses: &[400], ..PARAMS });
const MISMATCH: Expectation =
    Expectation::Refusal(ExpectedRefusal { codes: &[-32020], statuses: &[400], ..PARAMS });
const GONE: Expectation =
    Expectation::Refusal(ExpectedRefusal { statuses: &[404], near: &[-32022], ..METHOD_NOT_FOUND });

/// A server that also speaks sessions may take the header's word for the era; what it refuses is refused all the same.
const ERA_MISMATCH: Expectation = Expectation::Refusal(ExpectedRefusal {
    codes: &[-32020],
    near: &[-32600, -32602, -32000, -32022],
    statuses: &[400],
    ..PARAMS
});

const fn mismatch(id: &'static str, title: &'static str, edits: &'static [HeaderEdit]) -> Check {
    Check::text(id, title, LIST, MISMATCH).modern().over(Http).edits(edits).rule(HEADER_RULE)
}

const fn gone(id: &'static str, title: &'static str, body: &'static str) -> Check {
    Check::text(id, title, body, GONE)
        .modern()
        .rule("MCP 2026-07-28: unknown and removed methods are −32601, over HTTP with 404")
}

pub(super) const CHECKS: &[Check] = &[
    Check::text("modern.no-meta", "a request without _meta", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":{}}"#, MISSING_META)
        .modern().over(Http).rule(META_RULE),
    Check::text("modern.no-capabilities", "_meta without clientCapabilities",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#, MISSING_META)
        .modern().rule(META_RULE),
    Check::text("modern.capabilities-string", "clientCapabilities that are a string",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":"x"}}}"#, MISSING_META)
        .modern().should().rule(META_RULE),
    Check::text("modern.unsupported-version", "a version from 1999 in _meta",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        Expectation::Custom("error −32022 with data.supported, HTTP 400", unsupported))
        .modern().edits(&[HeaderEdit::Set("MCP-Protocol-Version", "1999-01-01")]).rule(VERSION_RULE),
    mismatch("modern.version-mismatch", "a version header that differs from the body", &[HeaderEdit::Set("MCP-Protocol-Version", "2025-11-25")]).expect(ERA_MISMATCH),
    mismatch("modern.no-version-header", "no version header", &[HeaderEdit::Drop("MCP-Protocol-Version")]).expect(ERA_MISMATCH),
    mismatch("modern.method-mismatch", "Mcp-Method that differs from the body", &[HeaderEdit::Set("Mcp-Method", "tools/call")]),
    mismatch("modern.no-method-header", "no Mcp-Method", &[HeaderEdit::Drop("Mcp-Method")]),
    Check::text("modern.name-mismatch", "Mcp-Name that differs from the body",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":$TOOL,"arguments":$ARGS,$META}}"#, MISMATCH)
        .modern().over(Http).needs("tools").edits(&[HeaderEdit::Set("Mcp-Name", "failwell-another")]).rule(HEADER_RULE),
    gone("modern.unknown-method", "an unknown method", r#"{"jsonrpc":"2.0","id":$ID,"method":"failwell/no-such-method","params":{$META}}"#).over(Http),
    gone("modern.ping", "ping, which is gone", r#"{"jsonrpc":"2.0","id":$ID,"method":"ping","params":{$META}}"#),
    gone("modern.initialize", "initialize, which is gone", r#"{"jsonrpc":"2.0","id":$ID,"method":"initialize","params":{"protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{"name":"failwell-probe","version":"0"},$META}}"#),
    gone("modern.set-level", "logging/setLevel, which is gone", r#"{"jsonrpc":"2.0","id":$ID,"method":"logging/setLevel","params":{"level":"debug",$META}}"#),
    Check::special("modern.get", "GET, which is gone", Procedure::ModernGet, "HTTP 405").modern().over(Http).should()
        .rule("MCP 2026-07-28 streamable HTTP: only POST; others are 405 (a server that also speaks sessions may serve GET)"),
    Check::special("modern.delete", "DELETE, which is gone", Procedure::ModernDelete, "HTTP 405").modern().over(Http).should()
        .rule("MCP 2026-07-28 streamable HTTP: only POST; others are 405 (a server that also speaks sessions may serve DELETE)"),
    Check::text("modern.session-header", "a session id, which means nothing any more", LIST, Expectation::Custom("a result, and no session id", session_ignored))
        .modern().over(Http).edits(&[HeaderEdit::Set("Mcp-Session-Id", "failwell-made-up")])
        .rule("MCP 2026-07-28 streamable HTTP: Mcp-Session-Id is ignored and never given"),
    Check::text("modern.parse-status", "truncated JSON, by status", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/li"#,
        Expectation::Refusal(ExpectedRefusal { codes: &[-32700], statuses: &[400], anonymous: Severity::Held, ..SHAPE }))
        .modern().over(Http).should().rule("MCP 2026-07-28 streamable HTTP: input that cannot be accepted gets an HTTP error status; −32700 with 400"),
];

fn unsupported(exchange: &Exchange) -> Verdict {
    let ServerAnswer::Error { code, message } = exchange.answer() else {
        return match exchange.answer() {
            ServerAnswer::Nothing => Verdict::broken("no JSON-RPC error"),
            _ => Verdict::broken("a version from 1999 was served"),
        };
    };
    if code != -32022 {
        return Verdict::broken(format!("refused with {code} instead of −32022"));
    }
    if exchange.status().is_some_and(|status| status != 400) {
        return Verdict::broken("the right error under another status than HTTP 400");
    }
    match message.value.pointer("/error/data/supported").and_then(|list| list.as_array()) {
        Some(list) if !list.is_empty() => Verdict::HELD,
        _ => Verdict::broken("data.supported is missing: the caller cannot choose another version"),
    }
}

fn session_ignored(exchange: &Exchange) -> Verdict {
    let given = exchange.response.as_ref().and_then(|response| response.header("mcp-session-id"));
    match (exchange.answer(), given) {
        (ServerAnswer::Result(_), None) => Verdict::HELD,
        (ServerAnswer::Result(_), Some(_)) => Verdict::broken("a session id came back"),
        _ => Verdict::broken("refused because of a header that must be ignored"),
    }
}
