//! The server behind every proxy: the part of MCP that the proxies need, with as little work as possible.

use failwell_rpc::{Incoming, Limits, Message, Raw, Request, meta, read};
use std::time::Duration;

/// The answer to a message.
pub enum Answer {
    Now(Vec<u8>),
    /// The answer to `initialize`; over HTTP it comes with a session id.
    SessionOpened(Vec<u8>),
    Later(Duration, Vec<u8>),
    Nothing,
}

/// The duration of the slow tool.
pub const WAIT: Duration = Duration::from_millis(200);

const TOOLS: &str = r#"{"tools":[
{"name":"echo","description":"Returns the given text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},
{"name":"wait","description":"Takes 200 ms.","inputSchema":{"type":"object"}}]"#;
const MANY: &str = "{\"content\":[{\"type\":\"text\",\"text\":";

/// Answers one message.
pub fn answer(bytes: &[u8]) -> Answer {
    match read(bytes, &Limits::default()) {
        Incoming::One(Ok(Message::Request(request))) => to_request(&request),
        _ => Answer::Nothing,
    }
}

fn to_request(request: &Request<'_>) -> Answer {
    let modern = request.meta(meta::PROTOCOL_VERSION).is_some();
    let tail = if modern { ",\"resultType\":\"complete\"}" } else { "}" };
    let kept =
        if modern { ",\"ttlMs\":60000,\"cacheScope\":\"public\",\"resultType\":\"complete\"}" } else { "}" };
    let now = |parts: &[&str]| Answer::Now(result(request, parts));
    let argument =
        || request.param("arguments").and_then(Raw::as_object).and_then(|object| object.get("text"));
    match (&*request.method, request.param("name").and_then(Raw::as_str).as_deref()) {
        ("tools/call", Some("echo")) => now(&[MANY, argument().map_or("\"\"", Raw::text), "}]", tail]),
        ("tools/call", Some("wait")) => Answer::Later(WAIT, result(request, &[MANY, "\"done\"}]", tail])),
        ("tools/list", _) => now(&[&TOOLS.replace('\n', ""), kept]),
        ("ping", _) => now(&["{}"]),
        ("initialize", _) => {
            let version = request.param("protocolVersion").map_or("\"2025-11-25\"", Raw::text);
            let parts = ["{\"protocolVersion\":", version, ",\"capabilities\":{\"tools\":{}},", WHO, "}"];
            Answer::SessionOpened(result(request, &parts))
        }
        ("server/discover", _) => {
            now(&["{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},", WHO, kept])
        }
        _ => Answer::Now(
            [
                "{\"jsonrpc\":\"2.0\",\"id\":",
                request.id.text(),
                ",\"error\":{\"code\":-32601,\"message\":\"no\"}}",
            ]
            .concat()
            .into_bytes(),
        ),
    }
}

const WHO: &str = "\"serverInfo\":{\"name\":\"echo\",\"version\":\"0.1.0\"}";

fn result(request: &Request<'_>, parts: &[&str]) -> Vec<u8> {
    let capacity = parts.iter().map(|part| part.len()).sum::<usize>() + 64;
    let mut out = String::with_capacity(capacity);
    out.push_str("{\"jsonrpc\":\"2.0\",\"id\":");
    out.push_str(request.id.text());
    out.push_str(",\"result\":");
    parts.iter().for_each(|part| out.push_str(part));
    out.push('}');
    out.into_bytes()
}
