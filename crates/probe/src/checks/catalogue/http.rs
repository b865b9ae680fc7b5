//! Checks of HTTP: methods, origins, content types and sessions.

use crate::checks::check::{Check, Expectation};
use crate::checks::procedure::Procedure;
use crate::checks::verdict::Verdict;
use crate::connection::HeaderEdit;
use crate::connection::exchange::Exchange;
use crate::target::Transport;

const PING: &str = r#"{"jsonrpc":"2.0","id":$ID,"method":"$PING","params":{$META}}"#;

const fn over_http(id: &'static str, title: &'static str, expect: Expectation) -> Check {
    Check::text(id, title, PING, expect).over(Transport::Http)
}

pub(super) const CHECKS: &[Check] = &[
    over_http("http.put", "PUT instead of POST", Expectation::Status { held: &[405, 501], short: &[404] })
        .verb("PUT")
        .should()
        .rule("RFC 9110 15.5.6: a method the resource does not allow is 405"),
    over_http(
        "http.origin",
        "a foreign Origin",
        Expectation::Status { held: &[403], short: &[400, 401, 404, 421] },
    )
    .edits(&[HeaderEdit::Set("Origin", "http://evil.example")])
    .rule("MCP streamable HTTP: servers MUST validate Origin against DNS rebinding; 403 since 2025-11-25"),
    over_http(
        "http.origin-null",
        "Origin: null",
        Expectation::Status { held: &[403], short: &[400, 401, 404, 421] },
    )
    .edits(&[HeaderEdit::Set("Origin", "null")])
    .should()
    .rule("MCP streamable HTTP: servers MUST validate Origin; null is what a sandboxed page sends"),
    Check::special("http.host", "a foreign Host", Procedure::ForeignHost, "HTTP 403 or 421")
        .over(Transport::Http)
        .should()
        .rule("MCP security, DNS rebinding: a local server refuses names that are not its own"),
    over_http(
        "http.content-type",
        "a text/plain body",
        Expectation::Status { held: &[415], short: &[400, 406] },
    )
    .edits(&[HeaderEdit::Set("Content-Type", "text/plain")])
    .should()
    .rule("MCP streamable HTTP: the body is JSON; text/plain is what a foreign page may post without asking"),
    over_http(
        "http.accept-html",
        "Accept: text/html only",
        Expectation::Status { held: &[406], short: &[400, 415] },
    )
    .edits(&[HeaderEdit::Set("Accept", "text/html")])
    .should()
    .rule("MCP streamable HTTP: the client MUST accept JSON and event streams; RFC 9110 15.5.7: 406"),
    over_http(
        "http.accept-missing",
        "no Accept at all",
        Expectation::Custom("HTTP 406, or an answer", served_or_refused),
    )
    .edits(&[HeaderEdit::Drop("Accept")])
    .rule(
        "MCP streamable HTTP: the client MUST send Accept; without it refuse with 406 or serve, but answer",
    ),
    over_http(
        "http.unknown-path",
        "a path that is not there",
        Expectation::Status { held: &[404, 405], short: &[400, 401, 403] },
    )
    .at("/failwell-no-such-path")
    .should()
    .rule("RFC 9110 15.5.5: 404"),
    Check::special("session.unknown", "an unknown session id", Procedure::UnknownSession, "HTTP 404")
        .over(Transport::Http)
        .session()
        .rule("MCP streamable HTTP, sessions: requests with an id that is gone MUST get 404"),
    Check::special(
        "session.missing",
        "no session id after initialize",
        Procedure::MissingSession,
        "HTTP 400",
    )
    .over(Transport::Http)
    .session()
    .should()
    .rule("MCP streamable HTTP, sessions: servers that require an id SHOULD answer 400 without it"),
    Check::special(
        "session.deleted",
        "a session after DELETE",
        Procedure::DeletedSession,
        "HTTP 404, or 405 to the DELETE",
    )
    .over(Transport::Http)
    .session()
    .rule("MCP streamable HTTP, sessions: after termination the server MUST answer 404"),
    Check::special(
        "session.version-header",
        "a protocol version header from 1999",
        Procedure::VersionHeader,
        "HTTP 400",
    )
    .over(Transport::Http)
    .session()
    .rule("MCP streamable HTTP: an invalid or unsupported MCP-Protocol-Version MUST be answered 400"),
];

fn served_or_refused(exchange: &Exchange) -> Verdict {
    match (exchange.status(), exchange.answers().len()) {
        (Some(406 | 400), _) => Verdict::HELD,
        (Some(200), 1) => Verdict::noted("served"),
        (Some(status), _) => Verdict::broken(format!("HTTP {status}")),
        (None, _) => Verdict::broken("no answer"),
    }
}
