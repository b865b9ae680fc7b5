use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use failwell_fault::{Fault, Level};
use failwell_render::Moment;
use failwell_render::codes::fault_code;
use failwell_rpc::{ReplyTo, TraceMark};
use serde_json::{Map, Value, json};

use crate::LogStyle;
use crate::fault_report::stack;
use crate::printable::printable;
use crate::redact::TextRedactor;

/// Maximum bytes of one text in a line; the line states the full length.
const MOST_TEXT: usize = 16 * 1024;

/// A failure for the operator. It is created on the request path and formatted on the journal's thread.
#[derive(Debug)]
pub struct Entry {
    pub at: SystemTime,
    pub service: &'static str,
    /// The connection or session of the request.
    pub connection: Cow<'static, str>,
    /// The method, if it could be read.
    pub method: Option<Cow<'static, str>>,
    pub target: Option<Box<str>>,
    pub to: ReplyTo,
    /// The trace of the request, if tracing is on.
    pub trace: Option<TraceMark>,
    pub fault: Arc<Fault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryDetail {
    Whole,
    /// Omits the output of children and upstreams. The ledger has it.
    Brief,
}

/// Replaces the omitted output in a brief line.
const LEFT_OUT: (&str, &str) = ("left_out", "captured output: too many failures at once; the ledger has it");

/// The value of a note. A list, such as the problems of a file, stays a list.
fn noted(text: String) -> Value {
    let list = if text.starts_with("[{") { serde_json::from_str(&text).ok() } else { None };
    list.unwrap_or(Value::String(text))
}

impl Entry {
    /// The line, without a line break.
    pub(crate) fn line(&self, style: LogStyle, redact: &TextRedactor, telling: EntryDetail) -> String {
        match style {
            LogStyle::Json => Value::Object(self.members(redact, telling)).to_string(),
            LogStyle::Text => self.text(redact, telling),
        }
    }

    fn members(&self, redact: &TextRedactor, telling: EntryDetail) -> Map<String, Value> {
        let reason = self.fault.reason();
        let operator = self.fault.operator();
        let clean = |text: &str| json!(redact.text(text, MOST_TEXT));
        let request_id = self.to.id.as_ref().map(|id| clean(&id.plain()));
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("timestamp", json!(Moment::from(self.at).to_string()));
        put("level", json!(self.level().as_str()));
        put("message", json!(reason.title));
        put("service", json!(self.service));
        put("request_id", json!(request_id));
        put("connection_id", json!(self.connection));
        put("error_code", json!(fault_code(&self.fault, &self.to)));
        put("error_message", clean(&self.error_message()));
        put("error_details", self.details(redact, telling));
        put("stack_trace", clean(&stack(&self.fault).unwrap_or_else(|| operator.locations().join("\n"))));
        put("reason", json!(reason.id));
        put("ref", json!(self.to.reference.to_string()));
        put("rpc.method", json!(self.method.as_deref().map(clean)));
        put("target", json!(self.target.as_deref().map(clean)));
        if let Some(mark) = self.trace {
            put("trace_id", json!(mark.trace.to_string()));
            put("span_id", json!(mark.span.to_string()));
        }
        if reason.kind.concerns_security() {
            put("security", json!(true));
        }
        members
    }

    /// The level of the kind. A wrong configuration is the operator's to correct, so it is at least a warning.
    fn level(&self) -> Level {
        let reason = self.fault.reason();
        match reason.kind.level() {
            Level::Info if reason.area() == "config" => Level::Warn,
            level => level,
        }
    }

    fn error_message(&self) -> String {
        let mut message = self.fault.detail();
        for cause in self.fault.operator().causes() {
            message.push_str(": ");
            message.push_str(&cause);
        }
        message
    }

    fn details(&self, redact: &TextRedactor, telling: EntryDetail) -> Value {
        let operator = self.fault.operator();
        let mut details = Map::new();
        for (name, fact) in self.fault.facts() {
            details.insert((*name).to_owned(), json!(redact.text(&fact.to_string(), MOST_TEXT)));
        }
        for (name, note) in operator.notes() {
            details.insert((*name).to_owned(), noted(redact.text(note, MOST_TEXT)));
        }
        let mut put = |name: &str, text: String| details.insert(name.to_owned(), json!(text));
        match telling {
            EntryDetail::Whole => operator.captured().iter().for_each(|captured| {
                put(captured.label, redact.bytes(&captured.bytes, MOST_TEXT));
            }),
            EntryDetail::Brief => {
                put(LEFT_OUT.0, LEFT_OUT.1.to_owned());
            }
        }
        let violations = self.fault.violations().iter();
        let violations: Vec<String> =
            violations.map(|v| redact.text(&format!("{}: {}", v.pointer, v.message()), MOST_TEXT)).collect();
        if !violations.is_empty() {
            details.insert("violations".to_owned(), json!(violations));
        }
        Value::Object(details)
    }

    fn text(&self, redact: &TextRedactor, telling: EntryDetail) -> String {
        let reason = self.fault.reason();
        let level = self.level().as_str();
        let target = self.target.as_deref().map_or(String::new(), |target| format!(" {target}"));
        let method = self.method.as_deref().unwrap_or("-");
        let mut text = format!(
            "{} {level:<5} {} [{}] {} ({method}{target}, code {}, ref {})",
            Moment::from(self.at),
            self.service,
            reason.id,
            self.error_message(),
            fault_code(&self.fault, &self.to),
            self.to.reference
        );
        for (name, note) in self.fault.operator().notes() {
            text.push_str(&format!("\n{name}: {note}"));
        }
        match telling {
            EntryDetail::Whole => self.fault.operator().captured().iter().for_each(|captured| {
                text.push_str(&format!("\n{}: {}", captured.label, String::from_utf8_lossy(&captured.bytes)));
            }),
            EntryDetail::Brief => text.push_str(&format!("\n{}: {}", LEFT_OUT.0, LEFT_OUT.1)),
        }
        printable(&redact.text(&text, 2 * MOST_TEXT))
    }
}
