//! A message as it was received.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// A message, as text and parsed.
#[derive(Debug, Clone)]
pub struct ReceivedMessage {
    pub text: String,
    pub value: Value,
    /// The exact text of the id; `None` without an id.
    pub id: Option<String>,
}

impl ReceivedMessage {
    pub fn read(bytes: &[u8]) -> Result<ReceivedMessage, String> {
        let text = String::from_utf8(bytes.to_vec()).map_err(|e| format!("answer is not UTF-8: {e}"))?;
        let value: Value = serde_json::from_str(&text).map_err(|e| format!("not JSON: {e}: {text}"))?;
        let members: BTreeMap<String, Box<RawValue>> = serde_json::from_str(&text).unwrap_or_default();
        let id = members.get("id").map(|raw| raw.get().to_owned());
        Ok(ReceivedMessage { text, value, id })
    }

    /// The fault object: in `error.data`, in a tool result's `_meta`, in a REST body's `detail`, or the body itself.
    pub fn fault(&self) -> Option<&Value> {
        let places = ["/error/data", "/result/_meta/dev.failwell~1fault", "/detail", ""];
        let candidates = places.iter().filter_map(|place| self.value.pointer(place));
        candidates.into_iter().find(|value| value.get("reason").is_some())
    }

    /// The reason of the fault; empty without a fault.
    pub fn reason(&self) -> &str {
        self.fault().and_then(|fault| fault.get("reason")).and_then(Value::as_str).unwrap_or("")
    }

    /// The reference of the fault; empty without a fault.
    pub fn reference(&self) -> &str {
        self.fault().and_then(|fault| fault.get("ref")).and_then(Value::as_str).unwrap_or("")
    }

    /// The code of its error.
    pub fn code(&self) -> Option<i64> {
        let places = ["/error/code", "/error_code"];
        places.iter().find_map(|place| self.value.pointer(place)).and_then(Value::as_i64)
    }

    /// Whether it answers the request with this id.
    pub fn is_answer_to(&self, id: &str) -> bool {
        self.value.get("method").is_none() && self.id.as_deref() == Some(id)
    }

    /// The text of a tool result's first block.
    pub fn first_text(&self) -> &str {
        self.value.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or("")
    }
}
