use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use failwell_fault::Fault;
use failwell_render::Moment;
use failwell_rpc::ReplyTo;
use serde_json::{Map, Value, json};

use crate::Style;
use crate::line::code;
use crate::printable::printable;
use crate::redact::Redact;
use crate::story::stack;
use crate::trace::TraceMark;

/// Bytes of one text a line may carry; the rest is counted.
const MOST_TEXT: usize = 16 * 1024;

/// One failure as the operator reads it. Made on the request's path; its words are found on the journal's thread.
#[derive(Debug)]
pub struct Entry {
    /// When.
    pub at: SystemTime,
    /// Which server was asked.
    pub service: &'static str,
    /// Which connection or session it came in on.
    pub connection: Cow<'static, str>,
    /// Which method was asked for, if it could be read.
    pub method: Option<Cow<'static, str>>,
    /// The tool, resource or prompt it was about.
    pub target: Option<Box<str>>,
    /// Where the answer went.
    pub to: ReplyTo,
    /// Which trace it was part of, where traces are kept.
    pub trace: Option<TraceMark>,
    /// What went wrong.
    pub fault: Arc<Fault>,
}

/// How much of a failure a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// Everything.
    Whole,
    /// All but what a child or an upstream said: the ledger has that.
    Brief,
}

/// What stands in a brief line for what it leaves out.
const LEFT_OUT: (&str, &str) =
    ("left_out", "what the other side said; too many failures at once, the ledger has it");

impl Entry {
    /// The line, without its line break.
    pub(crate) fn line(&self, style: Style, redact: &Redact, telling: Telling) -> String {
        match style {
            Style::Json => Value::Object(self.members(redact, telling)).to_string(),
            Style::Text => self.text(redact, telling),
        }
    }

    fn members(&self, redact: &Redact, telling: Telling) -> Map<String, Value> {
        let reason = self.fault.reason();
        let operator = self.fault.operator();
        let clean = |text: &str| json!(redact.text(text, MOST_TEXT));
        let request_id = self.to.id.as_ref().map(|id| clean(id.text()));
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("timestamp", json!(Moment::from(self.at).to_string()));
        put("level", json!(reason.kind.level().as_str()));
        put("message", json!(reason.title));
        put("service", json!(self.service));
        put("request_id", json!(request_id));
        put("connection_id", json!(self.connection));
        put("error_code", json!(code(&self.fault, &self.to)));
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

    fn error_message(&self) -> String {
        let mut message = self.fault.detail();
        for cause in self.fault.operator().causes() {
            message.push_str(": ");
            message.push_str(&cause);
        }
        message
    }

    fn details(&self, redact: &Redact, telling: Telling) -> Value {
        let operator = self.fault.operator();
        let mut details = Map::new();
        let mut put = |name: &str, text: String| details.insert(name.to_owned(), json!(text));
        for (name, fact) in self.fault.facts() {
            put(name, redact.text(&fact.to_string(), MOST_TEXT));
        }
        for (name, note) in operator.notes() {
            put(name, redact.text(note, MOST_TEXT));
        }
        match telling {
            Telling::Whole => operator.captured().iter().for_each(|captured| {
                put(captured.label, redact.bytes(&captured.bytes, MOST_TEXT));
            }),
            Telling::Brief => {
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

    fn text(&self, redact: &Redact, telling: Telling) -> String {
        let reason = self.fault.reason();
        let level = reason.kind.level().as_str();
        let target = self.target.as_deref().map_or(String::new(), |target| format!(" {target}"));
        let method = self.method.as_deref().unwrap_or("-");
        let mut text = format!(
            "{} {level:<5} {} [{}] {} ({method}{target}, code {}, ref {})",
            Moment::from(self.at),
            self.service,
            reason.id,
            self.error_message(),
            code(&self.fault, &self.to),
            self.to.reference
        );
        for (name, note) in self.fault.operator().notes() {
            text.push_str(&format!("\n{name}: {note}"));
        }
        match telling {
            Telling::Whole => self.fault.operator().captured().iter().for_each(|captured| {
                text.push_str(&format!("\n{}: {}", captured.label, String::from_utf8_lossy(&captured.bytes)));
            }),
            Telling::Brief => text.push_str(&format!("\n{}: {}", LEFT_OUT.0, LEFT_OUT.1)),
        }
        printable(&redact.text(&text, 2 * MOST_TEXT))
    }
}
