use failwell_fault::Fault;
use failwell_rpc::ReplyTo;
use serde_json::{Map, Value, json};

use crate::Style;

/// Bytes of captured output one line may carry; the rest is counted.
const MOST_CAPTURED: usize = 16 * 1024;

/// One failure as the operator reads it.
#[derive(Debug)]
pub struct Entry<'a> {
    /// When, as RFC 3339.
    pub timestamp: &'a str,
    /// Which server was asked.
    pub service: &'a str,
    /// Which connection or session it came in on.
    pub connection: &'a str,
    /// Which method was asked for, if it could be read.
    pub method: Option<&'a str>,
    /// The number the caller was given.
    pub code: i32,
    /// Where the answer went.
    pub to: &'a ReplyTo,
    /// What went wrong.
    pub fault: &'a Fault,
}

impl Entry<'_> {
    /// The line, without its line break.
    pub fn line(&self, style: Style) -> String {
        match style {
            Style::Json => Value::Object(self.members()).to_string(),
            Style::Text => self.text(),
        }
    }

    fn members(&self) -> Map<String, Value> {
        let reason = self.fault.reason();
        let operator = self.fault.operator();
        let request_id = self.to.id.as_ref().map(|id| id.text().to_owned());
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("timestamp", json!(self.timestamp));
        put("level", json!(reason.kind.level().as_str()));
        put("message", json!(reason.title));
        put("service", json!(self.service));
        put("request_id", json!(request_id));
        put("connection_id", json!(self.connection));
        put("error_code", json!(self.code));
        put("error_message", json!(self.error_message()));
        put("error_details", self.details());
        put("stack_trace", json!(operator.stack().unwrap_or_else(|| operator.locations().join("\n"))));
        put("reason", json!(reason.id));
        put("ref", json!(self.to.reference.to_string()));
        put("rpc.method", json!(self.method));
        if reason.kind.concerns_security() {
            put("security", json!(true));
        }
        members
    }

    fn error_message(&self) -> String {
        let mut message = self.fault.detail();
        for cause in self.fault.operator().causes() {
            message.push_str(": ");
            message.push_str(&cause);
        }
        message
    }

    fn details(&self) -> Value {
        let operator = self.fault.operator();
        let mut details = Map::new();
        for (name, fact) in self.fault.facts() {
            details.insert((*name).to_owned(), json!(fact.to_string()));
        }
        for (name, note) in operator.notes() {
            details.insert((*name).to_owned(), json!(note));
        }
        for captured in operator.captured() {
            let kept = captured.bytes.get(..MOST_CAPTURED).unwrap_or(&captured.bytes);
            let mut text = String::from_utf8_lossy(kept).into_owned();
            if captured.bytes.len() > kept.len() {
                text.push_str(&format!("… ({} bytes in all)", captured.bytes.len()));
            }
            details.insert(captured.label.to_owned(), json!(text));
        }
        let violations: Vec<String> =
            self.fault.violations().iter().map(|v| format!("{}: {}", v.pointer, v.message())).collect();
        if !violations.is_empty() {
            details.insert("violations".to_owned(), json!(violations));
        }
        Value::Object(details)
    }

    fn text(&self) -> String {
        let reason = self.fault.reason();
        let level = reason.kind.level().as_str();
        let method = self.method.unwrap_or("-");
        let mut text = format!(
            "{} {level:<5} {} [{}] {} ({method}, code {}, ref {})",
            self.timestamp,
            self.service,
            reason.id,
            self.error_message(),
            self.code,
            self.to.reference
        );
        for (name, note) in self.fault.operator().notes() {
            text.push_str(&format!("\n{name}: {note}"));
        }
        for captured in self.fault.operator().captured() {
            let kept = captured.bytes.get(..MOST_CAPTURED).unwrap_or(&captured.bytes);
            text.push_str(&format!("\n{}: {}", captured.label, String::from_utf8_lossy(kept)));
        }
        printable(&text)
    }
}

/// Foreign text must not move the cursor, change colours or forge a line of ours on the operator's terminal.
fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\n    "),
            '\t' => safe.push('\t'),
            c if c.is_control() => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
    }
    safe
}
