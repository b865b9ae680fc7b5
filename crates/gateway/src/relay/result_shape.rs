//! The shapes of results that clients rely on. A client with a schema fails on any other, without saying whose mistake it
//! is.

use failwell_fault::Fault;
use failwell_rpc::{Kind, Object, Raw};

use crate::upstream::{ParsedResult, invalid_response};

/// Rejects the result of a method if it has the wrong shape.
pub(crate) fn check_shape(method: &str, found: ParsedResult) -> Result<ParsedResult, Fault> {
    let result = found.members.members.object();
    let fits = match method {
        "tools/call" => is_tool_result(result),
        "prompts/get" => {
            all(result, "messages", is_message) && is_absent_or(result, "description", Kind::String)
        }
        "resources/read" => all(result, "contents", is_resource_contents),
        "completion/complete" => is_completion(result),
        _ => true,
    };
    if fits { Ok(found) } else { Err(invalid_response(found.members.members.text().as_bytes())) }
}

/// Many servers leave `content` out if there is structured content, and clients take it for an empty list.
fn is_tool_result(result: Object<'_>) -> bool {
    let is_structured = || result.get("structuredContent").is_some_and(|value| value.kind() == Kind::Object);
    let has_content = match result.get("content") {
        Some(content) => all_of(content, is_content),
        None => is_structured(),
    };
    has_content && is_absent_or(result, "isError", Kind::Bool)
}

fn is_message(message: Raw<'_>) -> bool {
    message.as_object().is_some_and(|message| {
        let role = message.get("role").and_then(Raw::as_str);
        role.is_some_and(|role| role == "user" || role == "assistant")
            && message.get("content").is_some_and(is_content)
    })
}

/// A content block. Types of later revisions pass.
fn is_content(block: Raw<'_>) -> bool {
    let Some(block) = block.as_object() else { return false };
    let Some(kind) = block.get("type").and_then(Raw::as_str) else { return false };
    match &*kind {
        "text" => has_texts(block, &["text"]),
        "image" | "audio" => has_texts(block, &["data", "mimeType"]),
        "resource_link" => has_texts(block, &["uri", "name"]),
        "resource" => block.get("resource").is_some_and(is_resource_contents),
        _ => true,
    }
}

fn is_resource_contents(contents: Raw<'_>) -> bool {
    contents.as_object().is_some_and(|contents| {
        has_texts(contents, &["uri"]) && (has_texts(contents, &["text"]) || has_texts(contents, &["blob"]))
    })
}

fn is_completion(result: Object<'_>) -> bool {
    result.get("completion").and_then(Raw::as_object).is_some_and(|completion| {
        all(completion, "values", |value| value.kind() == Kind::String)
            && is_absent_or(completion, "hasMore", Kind::Bool)
            && is_absent_or(completion, "total", Kind::Number)
    })
}

fn all(object: Object<'_>, name: &str, fits: impl FnMut(Raw<'_>) -> bool) -> bool {
    object.get(name).is_some_and(|list| all_of(list, fits))
}

fn all_of(list: Raw<'_>, fits: impl FnMut(Raw<'_>) -> bool) -> bool {
    list.as_array().is_some_and(|mut items| items.all(fits))
}

fn has_texts(object: Object<'_>, names: &[&str]) -> bool {
    names.iter().all(|name| object.get(name).is_some_and(|text| text.kind() == Kind::String))
}

fn is_absent_or(object: Object<'_>, name: &str, kind: Kind) -> bool {
    object.get(name).is_none_or(|value| value.is_null() || value.kind() == kind)
}

#[cfg(test)]
mod tests {
    use super::check_shape;
    use crate::upstream::ParsedResult;
    use failwell_rpc::Json;
    use serde_json::{Value, json};

    fn fits(method: &str, result: &Value) -> bool {
        check_shape(method, ParsedResult::parse(method, Json::from(result))).is_ok()
    }

    #[test]
    fn results_have_the_shape_of_their_method() {
        let link = json!({"type": "resource_link", "uri": "a:b", "name": "n"});
        let embedded = json!({"type": "resource", "resource": {"uri": "a:b", "blob": "AA=="}});
        for (method, result, expected) in [
            ("tools/call", json!({"content": []}), true),
            ("tools/call", json!({"content": [{"type": "text", "text": "x"}], "isError": true}), true),
            ("tools/call", json!({"content": [link, embedded, {"type": "new", "x": 1}]}), true),
            ("tools/call", json!({"content": "not a list"}), false),
            ("tools/call", json!({"content": {}}), false),
            ("tools/call", json!({"content": ["text"]}), false),
            ("tools/call", json!({"content": [{"text": "x"}]}), false),
            ("tools/call", json!({"content": [{"type": "text", "text": 1}]}), false),
            ("tools/call", json!({"content": [{"type": "image", "data": "AA=="}]}), false),
            ("tools/call", json!({"content": [], "isError": "yes"}), false),
            ("tools/call", json!({}), false),
            ("tools/call", json!({"structuredContent": {}}), true),
            ("tools/call", json!({"structuredContent": {}, "content": {}}), false),
            (
                "prompts/get",
                json!({"messages": [{"role": "user", "content": {"type": "text", "text": ""}}]}),
                true,
            ),
            (
                "prompts/get",
                json!({"messages": [{"role": "root", "content": {"type": "text", "text": ""}}]}),
                false,
            ),
            ("prompts/get", json!({"messages": {}}), false),
            ("resources/read", json!({"contents": [{"uri": "a:b", "text": ""}]}), true),
            ("resources/read", json!({"contents": [{"uri": "a:b"}]}), false),
            ("resources/read", json!({"contents": "x"}), false),
            (
                "completion/complete",
                json!({"completion": {"values": ["a"], "total": 1, "hasMore": false}}),
                true,
            ),
            ("completion/complete", json!({"completion": {"values": [1]}}), false),
            ("completion/complete", json!({"completion": []}), false),
            ("other", json!({}), true),
        ] {
            assert_eq!(fits(method, &result), expected, "{method} {result}");
        }
    }
}
