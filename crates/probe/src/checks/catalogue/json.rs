//! Bytes that are not JSON, or JSON that is no message.

use super::{INVALID_REQUEST, PARSE, SHAPE};
use crate::checks::check::{Check, Expectation, ExpectedRefusal, Payload, Severity};
use crate::checks::verdict::Verdict;
use crate::connection::Patience;
use crate::connection::exchange::{Exchange, ServerAnswer};
use crate::revision::Revision;

const RULE: &str =
    "JSON-RPC 2.0 5.1: invalid JSON is answered −32700; over stdio MCP is silent, so silence costs a SHOULD";
const SCALAR: &str = "JSON-RPC 2.0 5.1: JSON that is not a request is answered −32600";

/// No id can be read, so no client waits for an answer: silence over stdio is only a shortfall.
const NO_ID: Expectation =
    Expectation::Refusal(ExpectedRefusal { silence: Severity::Short, anonymous: Severity::Held, ..SHAPE });

const fn bad(id: &'static str, title: &'static str, body: &'static str) -> Check {
    Check::text(id, title, body, PARSE).patience(Patience::Settle).rule(RULE)
}

const fn scalar(id: &'static str, title: &'static str, body: &'static str) -> Check {
    Check::text(id, title, body, NO_ID).patience(Patience::Settle).rule(SCALAR)
}

pub(super) const CHECKS: &[Check] = &[
    bad("json.truncated", "truncated JSON", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/li"#),
    bad("json.garbage", "bytes that never were JSON", "GET / HTTP/1.0 %%% <xml/>"),
    bad("json.trailing-comma", "a trailing comma", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list",}"#),
    bad("json.nan", "NaN as a number", r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":{"x":NaN,$META}}"#)
        .should(),
    Check::send(
        "json.utf8",
        "bytes that are not UTF-8",
        Payload::Around(
            r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/list","params":{"x":""#,
            b"\xff\xfe\xc3\x28",
            r#"",$META}}"#,
        ),
        PARSE,
    )
    .should()
    .patience(Patience::Settle)
    .rule("MCP transports: messages MUST be UTF-8 encoded; RFC 8259 8.1"),
    scalar("json.number", "a bare number", "42"),
    scalar("json.string", "a bare string", r#""hello""#),
    scalar("json.null", "a bare null", "null"),
    Check::text("json.empty-object", "an empty object", "{}", NO_ID).patience(Patience::Settle).rule(SCALAR),
    Check::text(
        "json.batch",
        "a batch of two requests",
        r#"[{"jsonrpc":"2.0","id":$ID,"method":"$PING","params":{$META}},{"jsonrpc":"2.0","id":"second","method":"$PING","params":{$META}}]"#,
        Expectation::Custom("answered in 2025-03-26, otherwise refused with −32600", batch),
    )
    .should()
    .patience(Patience::Settle)
    .rule("MCP 2025-03-26 allows batches (servers MUST receive them); 2025-06-18 and later removed them"),
    Check::text("json.empty-batch", "an empty batch", "[]", NO_ID)
        .should()
        .patience(Patience::Settle)
        .rule("JSON-RPC 2.0 6: an empty array is answered with one −32600"),
    Check::text(
        "json.duplicate-keys",
        "the same key twice",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"$PING","method":"failwell/second","params":{$META}}"#,
        Expectation::OneAnswer { silence: Severity::Broken },
    )
    .rule("RFC 8259 4: names SHOULD be unique; whichever way it is read, a request gets exactly one answer"),
    Check::text(
        "json.lone-surrogate",
        "half a surrogate pair in a name",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"tools/call","params":{"name":"\ud800","arguments":{},$META}}"#,
        Expectation::OneAnswer { silence: Severity::Short },
    )
    .needs("tools")
    .rule("RFC 8259 8.2 allows it in the grammar and leaves its meaning open: refuse it or serve it; silence costs a SHOULD"),
    Check::text(
        "json.huge-number",
        "1e400 as a number",
        r#"{"jsonrpc":"2.0","id":$ID,"method":"$PING","params":{"x":1e400,$META}}"#,
        Expectation::OneAnswer { silence: Severity::Short },
    )
    .should()
    .rule("RFC 8259 6 allows limits on numbers: refuse it or serve it, but answer"),
    Check::text("json.whitespace", "whitespace around a request", "  \t{ \"jsonrpc\" : \"2.0\" , \"id\" : $ID , \"method\" : \"$PING\" , \"params\" : { $META } } \t ", Expectation::Result)
        .rule("RFC 8259 2: insignificant whitespace is allowed around any token"),
    Check::text("json.unknown-members", "unknown members beside a request", r#"{"jsonrpc":"2.0","id":$ID,"method":"$PING","params":{"failwell":1,$META},"failwell":{"a":[1]}}"#, Expectation::OneAnswer { silence: Severity::Broken })
        .should()
        .rule("JSON-RPC 2.0 5: a readable request is answered, whatever else it carries"),
    Check::text("json.both-result-and-method", "a request that is also a response", r#"{"jsonrpc":"2.0","id":$ID,"method":"$PING","result":{},"params":{$META}}"#, INVALID_REQUEST)
        .should()
        .patience(Patience::Settle)
        .rule("JSON-RPC 2.0 4, 5: a message is a request or a response, never both"),
];

/// Batches exist in one revision only.
fn batch(exchange: &Exchange) -> Verdict {
    let results = exchange.messages.iter().filter(|message| message.result().is_some()).count();
    if exchange.revision == Revision::March2025 {
        return if results == 2 {
            Verdict::HELD
        } else {
            Verdict::broken(format!("{results} of 2 requests answered"))
        };
    }
    match (exchange.answer(), exchange.status()) {
        (ServerAnswer::Error { code: -32600, .. }, _) => Verdict::HELD,
        (ServerAnswer::Error { .. }, _) | (ServerAnswer::Nothing, Some(400..=499)) => {
            Verdict::noted("refused, though not with −32600")
        }
        (ServerAnswer::Nothing, _) => {
            Verdict::short("no answer: a caller of an older revision waits for ever")
        }
        _ if results == 2 => Verdict::noted("served, as 2025-03-26 had it"),
        _ => Verdict::broken("answered in part"),
    }
}
