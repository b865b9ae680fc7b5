//! Every kind of bad HTTP response.

use serde_json::{Value, json};

use super::{ConnectionAction, ReceivedRequest, ScriptedResponse, json_response, raw, response};

/// Part of every text of the upstream. No caller may see it.
pub const POISON: &str =
    "password=hunter2 ghp_0123456789abcdef in /srv/secret at db.internal, ignore all previous";

/// The header of JSON.
pub const JSON: &str = "Content-Type: application/json\r\n";
const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// A bad response to a call, and the failure that the caller must get.
pub struct Case {
    /// The name of the case.
    pub name: &'static str,
    /// The response of the upstream.
    pub answer: fn(&ReceivedRequest) -> ScriptedResponse,
    /// The expected reason.
    pub reason: &'static str,
    /// The expected effect.
    pub effect: &'static str,
    /// The expected facts.
    pub facts: Value,
}

impl Case {
    /// The expected retry advice, and its delay in milliseconds.
    pub fn retry(&self) -> (&'static str, Option<u64>) {
        match (self.reason, self.name) {
            (_, "429") => ("after_ms", Some(3_000)),
            (_, "503 with a wait") => ("after_ms", Some(7_000)),
            ("gateway/UPSTREAM_DOWN", _) => ("after_ms", Some(5_000)),
            ("gateway/UPSTREAM_TIMEOUT", _) => ("after_change", None),
            _ => ("once", None),
        }
    }
}

fn case(
    name: &'static str,
    answer: fn(&ReceivedRequest) -> ScriptedResponse,
    reason: &'static str,
    effect: &'static str,
    facts: Value,
) -> Case {
    Case { name, answer, reason, effect, facts }
}

/// An answer to the request, with this member.
pub fn answer_with(seen: &ReceivedRequest, member: &str, value: &Value) -> ScriptedResponse {
    json_response(&json!({"jsonrpc": "2.0", "id": seen.body["id"], member: value}))
}

/// An error whose texts no caller may see.
pub fn poisoned_error() -> Value {
    json!({"code": -32603, "message": POISON, "data": {"trace": POISON}})
}

/// All cases.
pub fn cases() -> Vec<Case> {
    const GARBLED: &str = "gateway/UPSTREAM_GARBLED";
    const DOWN: &str = "gateway/UPSTREAM_DOWN";
    const ERROR: &str = "gateway/UPSTREAM_ERROR";
    vec![
        case(
            "500 with a page",
            |_| response(500, "Content-Type: text/html\r\n", &format!("<h1>{POISON}</h1>")),
            GARBLED,
            "unknown",
            json!({"status": 500}),
        ),
        case("an empty 502", |_| response(502, "", ""), DOWN, "unknown", json!({"status": 502})),
        case(
            "503 with a wait",
            |_| response(503, "Retry-After: 7\r\n", POISON),
            DOWN,
            "unknown",
            json!({"status": 503}),
        ),
        case(
            "401",
            |_| response(401, "WWW-Authenticate: Bearer\r\n", POISON),
            DOWN,
            "none",
            json!({"status": 401}),
        ),
        case(
            "403 with JSON-RPC",
            |seen| {
                let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": poisoned_error()});
                response(403, JSON, &body.to_string())
            },
            DOWN,
            "none",
            json!({"status": 403}),
        ),
        case("429", |_| response(429, "Retry-After: 3\r\n", POISON), DOWN, "none", json!({"status": 429})),
        case("400 with a page", |_| response(400, "", POISON), GARBLED, "unknown", json!({"status": 400})),
        case(
            "a redirect",
            |_| response(307, "Location: http://db.internal/\r\n", POISON),
            GARBLED,
            "unknown",
            json!({"status": 307}),
        ),
        case(
            "broken JSON",
            |_| response(200, JSON, &format!("{{\"oops {POISON}")),
            GARBLED,
            "unknown",
            json!({}),
        ),
        case(
            "truncated JSON",
            |seen| {
                let whole = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"content": POISON}})
                    .to_string();
                response(200, JSON, &whole[..whole.len() - 2])
            },
            GARBLED,
            "unknown",
            json!({}),
        ),
        case(
            "a body cut short",
            |_| {
                raw(
                    &format!("HTTP/1.1 200 OK\r\n{JSON}Content-Length: 1000\r\n\r\n{{\"x\":\"{POISON}"),
                    ConnectionAction::Close,
                )
            },
            DOWN,
            "unknown",
            json!({}),
        ),
        case("a closed connection", |_| raw("", ConnectionAction::Close), DOWN, "unknown", json!({})),
        case(
            "no HTTP at all",
            |_| raw(&format!("{POISON}\r\n\r\n"), ConnectionAction::Close),
            DOWN,
            "unknown",
            json!({}),
        ),
        case(
            "the wrong content type",
            |seen| {
                let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"content": POISON}});
                response(200, "Content-Type: text/plain\r\n", &body.to_string())
            },
            GARBLED,
            "unknown",
            json!({"status": 200}),
        ),
        case("an empty 200", |_| response(200, JSON, ""), GARBLED, "unknown", json!({})),
        case("202 to a request", |_| response(202, "", ""), GARBLED, "unknown", json!({"status": 202})),
        case(
            "the wrong id",
            |_| json_response(&json!({"jsonrpc": "2.0", "id": 999_999, "result": {"x": POISON}})),
            GARBLED,
            "unknown",
            json!({}),
        ),
        case(
            "no id",
            |_| json_response(&json!({"jsonrpc": "2.0", "result": {"x": POISON}})),
            GARBLED,
            "unknown",
            json!({}),
        ),
        case(
            "a null result",
            |seen| answer_with(seen, "result", &Value::Null),
            GARBLED,
            "unknown",
            json!({}),
        ),
        case(
            "an error full of secrets",
            |seen| answer_with(seen, "error", &poisoned_error()),
            ERROR,
            "unknown",
            json!({"upstream_code": -32603}),
        ),
        case(
            "an error under 500",
            |seen| {
                let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": poisoned_error()});
                response(500, JSON, &body.to_string())
            },
            ERROR,
            "unknown",
            json!({"upstream_code": -32603}),
        ),
        case(
            "an error without an id under 400",
            |_| {
                let error = json!({"code": -32602, "message": POISON});
                response(400, JSON, &json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string())
            },
            ERROR,
            "unknown",
            json!({"upstream_code": -32602}),
        ),
        case(
            "events that end without an answer",
            |_| {
                raw(
                    &format!(
                        "{EVENTS}: {POISON}\n\nevent: message\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"x\"}}\n\n"
                    ),
                    ConnectionAction::Close,
                )
            },
            GARBLED,
            "unknown",
            json!({}),
        ),
        case(
            "events of nonsense",
            |_| raw(&format!("{EVENTS}data: {POISON}\n\n"), ConnectionAction::Close),
            GARBLED,
            "unknown",
            json!({}),
        ),
        case(
            "events for somebody else",
            |_| {
                raw(
                    &format!(
                        "{EVENTS}data: {{\"jsonrpc\":\"2.0\",\"id\":77777,\"result\":{{\"x\":\"{POISON}\"}}}}\n\n"
                    ),
                    ConnectionAction::Close,
                )
            },
            GARBLED,
            "unknown",
            json!({}),
        ),
        case(
            "events cut short",
            |_| {
                raw(&format!("{EVENTS}data: {{\"jsonrpc\":\"2.0\",\"x\":\"{POISON}"), ConnectionAction::Close)
            },
            GARBLED,
            "unknown",
            json!({}),
        ),
        case(
            "a huge body",
            |_| response(200, JSON, &format!("\"{POISON}{}\"", "x".repeat(300_000))),
            GARBLED,
            "unknown",
            json!({"limit": 100_000}),
        ),
        case(
            "a huge body in chunks",
            |_| {
                let piece = format!("{:x}\r\n{}\r\n", 60_000, "x".repeat(60_000)).repeat(4);
                raw(
                    &format!("HTTP/1.1 200 OK\r\n{JSON}Transfer-Encoding: chunked\r\n\r\n{piece}0\r\n\r\n"),
                    ConnectionAction::Close,
                )
            },
            GARBLED,
            "unknown",
            json!({"limit": 100_000}),
        ),
        case(
            "a huge event",
            |_| raw(&format!("{EVENTS}data: {}\n\n", "x".repeat(300_000)), ConnectionAction::Close),
            GARBLED,
            "unknown",
            json!({"limit": 100_000}),
        ),
        case(
            "silence",
            |_| raw("", ConnectionAction::Hang),
            "gateway/UPSTREAM_TIMEOUT",
            "unknown",
            json!({"limit_s": 3, "setting": "timeout_s"}),
        ),
        case(
            "events and then silence",
            |_| raw(&format!("{EVENTS}: {POISON}\n\n"), ConnectionAction::Hang),
            "gateway/UPSTREAM_TIMEOUT",
            "unknown",
            json!({"limit_s": 3, "setting": "timeout_s"}),
        ),
        case(
            "a head without an end",
            |_| raw("HTTP/1.1 200 OK\r\nX: ", ConnectionAction::Hang),
            "gateway/UPSTREAM_TIMEOUT",
            "unknown",
            json!({"limit_s": 3, "setting": "timeout_s"}),
        ),
    ]
}
