//! A JSON-RPC message as it was heard, with the id kept as it was written.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) value: Value,
    /// The bytes of the id: 9007199254740993 and 9007199254740992 must stay different.
    id_text: Option<String>,
}

#[derive(Deserialize)]
struct IdOnly<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

impl Message {
    /// Reads one message, or each of a batch; `None` when the bytes are not JSON-RPC.
    pub(crate) fn read(bytes: &[u8]) -> Option<Vec<Self>> {
        let text = whole_surrogates(std::str::from_utf8(bytes).ok()?.trim());
        let text = text.as_ref();
        if text.starts_with('[') {
            let parts: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            return parts.iter().map(|part| Self::read_one(part.get())).collect();
        }
        Self::read_one(text).map(|message| vec![message])
    }

    fn read_one(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        if value.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return None;
        }
        let id_text = serde_json::from_str::<IdOnly<'_>>(text).ok().and_then(|it| it.id);
        let id_text = id_text.map(|raw| raw.get().to_owned());
        Some(Self { value, id_text })
    }

    /// Whether this answers a request.
    pub(crate) fn is_answer(&self) -> bool {
        self.method().is_none() && (self.value.get("result").is_some() || self.value.get("error").is_some())
    }

    /// Whether this is a request of the server to us.
    pub(crate) fn is_request(&self) -> bool {
        self.method().is_some() && self.id_text.is_some()
    }

    pub(crate) fn method(&self) -> Option<&str> {
        self.value.get("method").and_then(Value::as_str)
    }

    pub(crate) fn id_text(&self) -> Option<&str> {
        self.id_text.as_deref()
    }

    /// Whether the id is absent or null.
    pub(crate) fn has_no_id(&self) -> bool {
        self.value.get("id").is_none_or(Value::is_null)
    }

    /// Whether the id is the one written as `text`: strings by what they mean, numbers by how they are written.
    pub(crate) fn has_id(&self, text: &str) -> bool {
        if text.starts_with('"') {
            let wanted = serde_json::from_str::<Value>(text).ok();
            return wanted.is_some() && wanted.as_ref() == self.value.get("id");
        }
        self.id_text.as_deref() == Some(text)
    }

    /// Whether the id belongs to a request of the examiner, so that a late answer is not blamed on another check.
    pub(crate) fn answers_a_request(&self) -> bool {
        self.is_answer() && self.id_text().is_some_and(|id| id.starts_with("\"fw-"))
    }

    pub(crate) fn result(&self) -> Option<&Value> {
        self.value.get("result")
    }

    pub(crate) fn error_code(&self) -> Option<i64> {
        self.value.get("error")?.get("code")?.as_i64()
    }

    /// Whether this is the result of a tool that failed.
    pub(crate) fn is_failed_tool(&self) -> bool {
        self.result().and_then(|result| result.get("isError")).and_then(Value::as_bool) == Some(true)
    }

    /// Whether an operator wrote this rather than a tool: an error, a failed tool, a log message.
    pub(crate) fn is_about_failure(&self) -> bool {
        self.value.get("error").is_some()
            || self.is_failed_tool()
            || self.method() == Some("notifications/message")
    }
}

/// The text with escapes of lone surrogates replaced: the JSON grammar allows them, a Rust string cannot hold them.
fn whole_surrogates(text: &str) -> Cow<'_, str> {
    if !text.contains("\\ud") && !text.contains("\\uD") {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let first = unit(escape);
        let second = escape.get(6..).and_then(unit);
        let (kept, length) = match (first, second) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (escape.get(..12), 12),
            (Some(0xd800..=0xdfff), _) => (Some("\\ufffd"), 6),
            _ => (escape.get(..2), 2),
        };
        let Some(kept) = kept else { break };
        whole.push_str(kept);
        rest = escape.get(length..).unwrap_or_default();
    }
    whole.push_str(rest);
    Cow::Owned(whole)
}

/// The UTF-16 unit that an escape at the beginning of `text` stands for.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{Message, whole_surrogates};

    #[test]
    fn lone_surrogates_do_not_hide_an_answer() {
        assert_eq!(whole_surrogates(r#""\ud800""#), r#""\ufffd""#);
        assert_eq!(whole_surrogates(r#""\ud834\udd1e \\ud800 \udd1e""#), r#""\ud834\udd1e \\ud800 \ufffd""#);
        assert!(one(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x \ud800"}}"#).has_id("1"));
    }

    fn one(text: &str) -> Message {
        Message::read(text.as_bytes()).unwrap().remove(0)
    }

    #[test]
    fn ids_keep_their_writing() {
        assert!(one(r#"{"jsonrpc":"2.0","id":9007199254740993,"result":{}}"#).has_id("9007199254740993"));
        assert!(!one(r#"{"jsonrpc":"2.0","id":9007199254740992,"result":{}}"#).has_id("9007199254740993"));
        assert!(!one(r#"{"jsonrpc":"2.0","id":1.0,"result":{}}"#).has_id("1"));
        assert!(one(r#"{"jsonrpc":"2.0","id":"é\n","result":{}}"#).has_id(r#""\u00e9\u000a""#));
        assert!(one(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}"#).has_no_id());
        assert!(one(r#"{"jsonrpc":"2.0","error":{"code":-32700}}"#).has_no_id());
    }

    #[test]
    fn what_is_not_json_rpc_is_not_a_message() {
        for text in ["Server started", "{}", r#"{"id":1}"#, "[1]", "42", r#"{"jsonrpc":"1.0"}"#] {
            assert!(Message::read(text.as_bytes()).is_none(), "{text}");
        }
        assert_eq!(Message::read(br#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#).unwrap().len(), 1);
    }
}
