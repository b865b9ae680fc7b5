//! Reads a reply back: the order of keys, and the shape of an envelope.

use failwell_fault::Fault;
use failwell_render::Reply;
use failwell_rpc::{Dialect, ExpectedResult, Json, Limits, Object, ReplyTo, RestStyle};

/// The keys of a fault object in their required order.
const FAULT_KEYS: [&str; 22] = [
    "reason",
    "kind",
    "title",
    "detail",
    "hint",
    "facts",
    "violations",
    "violations_total",
    "errors",
    "retry",
    "retry_after_ms",
    "effect",
    "origin",
    "doc",
    "ref",
    "uri",
    "supported",
    "requested",
    "requiredCapabilities",
    "details",
    "request_id",
    "timestamp",
];
/// The keys that every complete fault object has.
const ALWAYS: [&str; 10] =
    ["reason", "kind", "title", "detail", "hint", "retry", "effect", "origin", "doc", "ref"];

/// Parses the body with the strict scan, which also refuses repeated keys.
pub(crate) fn strict(reply: &Reply) -> Json {
    let text = std::str::from_utf8(&reply.body).expect("UTF-8");
    assert!(!text.contains(['\n', '\r']), "one line: {text}");
    Json::read(text, &Limits::default()).unwrap_or_else(|defect| panic!("{defect:?}: {text}"))
}

/// The keys of an object in order.
pub(crate) fn keys(object: Object<'_>) -> Vec<String> {
    object.iter().map(|(key, _)| key.into_owned()).collect()
}

/// Checks the envelope and the fault object. Returns the code if the dialect has one.
pub(crate) fn check_shape(to: &ReplyTo, fault: &Fault, body: &Json, shown: bool) -> Option<i64> {
    let top = body.raw().as_object().expect("an object");
    let id = to.id.as_ref().map(|id| id.text());
    let (code, object) = match to.dialect {
        Dialect::Mcp(_) | Dialect::Rpc => {
            let null_id = match to.dialect {
                Dialect::Mcp(revision) => revision.as_str() <= "2025-06-18",
                _ => true,
            };
            let echoed = top.get("id").map(|value| value.text());
            assert_eq!(echoed, id.or(null_id.then_some("null")), "{}", body.text());
            let last = if shown { "result" } else { "error" };
            let expected: Vec<&str> =
                ["jsonrpc", "id", last].into_iter().filter(|key| *key != "id" || echoed.is_some()).collect();
            assert_eq!(keys(top), expected);
            assert_eq!(top.get("jsonrpc").map(|value| value.text()), Some("\"2.0\""));
            let inner = top.get(last).and_then(|value| value.as_object()).expect("result or error");
            if shown { (None, tool_result(to, inner)) } else { json_rpc_error(to, fault, inner) }
        }
        Dialect::Rest(RestStyle::Plain) => {
            assert_eq!(keys(top), ["error_code", "message", "detail"]);
            let object = top.get("detail").and_then(|value| value.as_object()).expect("detail");
            (top.get("error_code").and_then(|value| value.as_i64()), object)
        }
        Dialect::Rest(RestStyle::Problem) => {
            let all = keys(top);
            assert_eq!(all[..4], ["type", "status", "instance", "error_code"]);
            (top.get("error_code").and_then(|value| value.as_i64()), top)
        }
    };
    check_fault_object(fault, object);
    code
}

fn json_rpc_error<'a>(to: &ReplyTo, fault: &Fault, error: Object<'a>) -> (Option<i64>, Object<'a>) {
    assert_eq!(keys(error), ["code", "message", "data"]);
    let in_session =
        matches!(to.dialect, Dialect::Mcp(revision) if revision.era() == failwell_rpc::Era::Session);
    let promised = fault.reason().session_message;
    let is_promised = in_session && !promised.is_empty();
    let message = if is_promised { promised.to_owned() } else { fault.detail() };
    assert_eq!(error.get("message").and_then(|value| value.as_str()), Some(message.into()));
    let data = error.get("data").and_then(|value| value.as_object()).expect("data");
    (error.get("code").and_then(|value| value.as_i64()), data)
}

fn tool_result<'a>(to: &ReplyTo, result: Object<'a>) -> Object<'a> {
    assert_eq!(to.asked, ExpectedResult::Tool);
    let modern = to.dialect == Dialect::Mcp(failwell_rpc::Revision::V2026_07_28);
    let expected: Vec<&str> = ["resultType", "content", "isError", "_meta"]
        .into_iter()
        .filter(|key| *key != "resultType" || modern)
        .collect();
    assert_eq!(keys(result), expected);
    assert_eq!(result.get("isError").and_then(|value| value.as_bool()), Some(true));
    let meta = result.get("_meta").and_then(|value| value.as_object()).expect("_meta");
    meta.get("dev.failwell/fault").and_then(|value| value.as_object()).expect("the fault object")
}

fn check_fault_object(fault: &Fault, object: Object<'_>) {
    let found = keys(object);
    let mut order = FAULT_KEYS.iter();
    for key in
        found.iter().filter(|key| !["type", "status", "instance", "error_code"].contains(&key.as_str()))
    {
        assert!(order.any(|known| known == key), "{key} is unknown or out of order in {found:?}");
    }
    for key in ALWAYS {
        assert!(found.iter().any(|found| found == key), "{key} missing in {found:?}");
    }
    let text = |key: &str| object.get(key).and_then(|value| value.as_str()).expect("a text").into_owned();
    assert_eq!(text("reason"), fault.reason().id);
    assert_eq!(text("kind"), fault.kind().as_str());
    assert_eq!(text("title"), fault.reason().title);
    assert_eq!(text("detail"), fault.detail());
    assert_eq!(text("hint"), fault.hint());
}
