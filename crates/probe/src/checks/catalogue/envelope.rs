//! Envelopes that are JSON and almost requests; ids of every kind.

use super::{INVALID_REQUEST, SHAPE};
use crate::checks::check::{Check, Expectation, ExpectedRefusal, Severity};
use crate::checks::procedure::Procedure;
use crate::checks::verdict::Verdict;
use crate::connection::Patience;
use crate::connection::exchange::{Exchange, ServerAnswer};
use crate::target::Transport;

const ID_RULE: &str = "MCP basic: the id MUST be a string or an integer, and MUST NOT be null";
const ECHO_RULE: &str = "MCP basic: responses MUST include the same id as the request they correspond to";

/// The id is not usable, so the answer cannot carry it; JSON-RPC wants −32600 all the same.
const BAD_ID: Expectation = Expectation::Refusal(ExpectedRefusal {
    silence: Severity::Broken,
    anonymous: Severity::Held,
    near: &[-32700, -32602],
    ..SHAPE
});

const fn envelope(id: &'static str, title: &'static str, body: &'static str) -> Check {
    Check::text(id, title, body, INVALID_REQUEST)
        .should()
        .patience(Patience::Settle)
        .rule("JSON-RPC 2.0 4, 5.1: not a valid request, −32600, with the id when it can be read")
}

const fn bad_id(id: &'static str, title: &'static str, body: &'static str) -> Check {
    Check::text(id, title, body, BAD_ID).should().patience(Patience::Settle).rule(ID_RULE)
}

const fn echo(id: &'static str, title: &'static str, body: &'static str, text: &'static str) -> Check {
    Check::text(id, title, body, Expectation::Result).id_text(text).rule(ECHO_RULE)
}

pub(super) const CHECKS: &[Check] = &[
    envelope("envelope.no-jsonrpc", "no jsonrpc member", r#"{"id":$ID,"method":"$PING","params":{$META}}"#),
    envelope(
        "envelope.jsonrpc-1",
        "jsonrpc 1.0",
        r#"{"jsonrpc":"1.0","id":$ID,"method":"$PING","params":{$META}}"#,
    ),
    envelope(
        "envelope.jsonrpc-number",
        "jsonrpc as a number",
        r#"{"jsonrpc":2.0,"id":$ID,"method":"$PING","params":{$META}}"#,
    ),
    envelope("envelope.no-method", "an id and no method", r#"{"jsonrpc":"2.0","id":$ID,"params":{$META}}"#),
    envelope(
        "envelope.method-number",
        "a method that is a number",
        r#"{"jsonrpc":"2.0","id":$ID,"method":5,"params":{$META}}"#,
    ),
    Check::text(
        "envelope.params-array",
        "params as an array",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":[1,2]}"#,
        Expectation::Refusal(ExpectedRefusal { codes: &[-32600, -32602], near: &[-32700], ..SHAPE }),
    )
    .rule("a valid JSON-RPC request (4.2) with a readable id MUST be answered (5); MCP params are objects"),
    Check::text(
        "envelope.params-string",
        "params as a string",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":"x"}"#,
        Expectation::Refusal(ExpectedRefusal { codes: &[-32600, -32602], near: &[-32700], ..SHAPE }),
    )
    .should()
    .rule("JSON-RPC 2.0 4.2: params are structured; −32600 or −32602 with the id"),
    bad_id("id.null", "a null id", r#"{"jsonrpc":"2.0","id":null,"method":"$PING","params":{$META}}"#),
    bad_id("id.fraction", "1.5 as an id", r#"{"jsonrpc":"2.0","id":1.5,"method":"$PING","params":{$META}}"#),
    bad_id("id.boolean", "true as an id", r#"{"jsonrpc":"2.0","id":true,"method":"$PING","params":{$META}}"#),
    bad_id(
        "id.object",
        "an object as an id",
        r#"{"jsonrpc":"2.0","id":{},"method":"$PING","params":{$META}}"#,
    ),
    bad_id("id.array", "an array as an id", r#"{"jsonrpc":"2.0","id":[],"method":"$PING","params":{$META}}"#),
    echo(
        "id.echo-zero",
        "0 comes back as 0",
        r#"{"jsonrpc":"2.0","id":0,"method":"$PING","params":{$META}}"#,
        "0",
    ),
    echo(
        "id.echo-negative",
        "a negative id comes back",
        r#"{"jsonrpc":"2.0","id":-7,"method":"$PING","params":{$META}}"#,
        "-7",
    ),
    echo(
        "id.echo-empty",
        "an empty string comes back",
        r#"{"jsonrpc":"2.0","id":"","method":"$PING","params":{$META}}"#,
        "\"\"",
    ),
    echo(
        "id.echo-numeric-string",
        "\"7\" stays a string",
        r#"{"jsonrpc":"2.0","id":"7","method":"$PING","params":{$META}}"#,
        "\"7\"",
    ),
    echo(
        "id.echo-unicode",
        "unicode and escapes come back",
        r#"{"jsonrpc":"2.0","id":"é\u2603 \"\\\n\u0000 𝄞","method":"$PING","params":{$META}}"#,
        r#""é\u2603 \"\\\n\u0000 𝄞""#,
    ),
    Check::text(
        "id.echo-beyond-double",
        "2^53+1 comes back unrounded",
        r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"$PING","params":{$META}}"#,
        Expectation::Custom("the id exactly as sent, or a refusal", exact_or_refused),
    )
    .id_text("9007199254740993")
    .should()
    .rule("MCP basic: the same id; a server that cannot hold the number refuses it rather than rounding it"),
    Check::text(
        "id.echo-huge",
        "a 30 digit id comes back unrounded",
        r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"$PING","params":{$META}}"#,
        Expectation::Custom("the id exactly as sent, or a refusal", exact_or_refused),
    )
    .id_text("123456789012345678901234567890")
    .should()
    .rule("MCP basic: the same id; a server that cannot hold the number refuses it rather than rounding it"),
    Check::special(
        "id.duplicate-in-flight",
        "two requests in flight with one id",
        Procedure::DuplicateInFlight,
        "one or two answers, never none",
    )
    .over(Transport::Stdio)
    .rule("the id is the client's mistake (MCP basic: MUST NOT be reused); silence would be the server's"),
];

fn exact_or_refused(exchange: &Exchange) -> Verdict {
    match (exchange.answer(), exchange.status()) {
        (ServerAnswer::Result(message), _) if exchange.echoes_id(message) => Verdict::HELD,
        (ServerAnswer::Error { .. }, _) | (ServerAnswer::Nothing, Some(400..=499)) => {
            Verdict::noted("refused")
        }
        (ServerAnswer::Nothing, _)
            if exchange.messages.iter().any(crate::connection::message::Message::is_answer) =>
        {
            Verdict::broken("the id came back changed: the caller waits for the one it sent")
        }
        (ServerAnswer::Nothing, _) => Verdict::broken("no answer: the caller waits until its own timeout"),
        _ => Verdict::broken("the id came back changed"),
    }
}
