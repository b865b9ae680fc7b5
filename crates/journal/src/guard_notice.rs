use failwell_rpc::ReplyTo;
use serde_json::json;

use crate::LogStyle;
use crate::redact::TextRedactor;

/// Maximum bytes of an id in a line.
const MOST_ID: usize = 1_024;

/// A log line for a finding of a content guard: its category and place, never the content.
#[derive(Debug)]
pub struct GuardNotice<'a> {
    /// The time, as RFC 3339.
    pub timestamp: &'a str,
    pub service: &'a str,
    /// The server of the message; empty if it belongs to none.
    pub server: &'a str,
    /// The connection or session of the message.
    pub connection: &'a str,
    /// The destination of the response, if there is one.
    pub to: Option<&'a ReplyTo>,
    pub guard: &'a str,
    pub category: &'a str,
    pub action: &'a str,
    /// The JSON Pointer of the finding.
    pub place: &'a str,
    pub count: usize,
}

impl GuardNotice<'_> {
    /// The line, without a line break.
    pub(crate) fn line(&self, style: LogStyle, redact: &TextRedactor) -> String {
        let reference = self.to.map(|to| to.reference.to_string());
        match style {
            LogStyle::Json => json!({
                "timestamp": self.timestamp,
                "level": "info",
                "message": "a content guard found something",
                "service": self.service,
                "request_id": self.to.and_then(|to| to.id.as_ref()).map(|id| redact.text(&id.plain(), MOST_ID)),
                "connection_id": self.connection,
                "ref": reference,
                "security": true,
                "guard": self.guard,
                "category": self.category,
                "action": self.action,
                "server": self.server,
                "where": self.place,
                "count": self.count,
            })
            .to_string(),
            LogStyle::Text => format!(
                "{} info  {} guard {}/{} {}{} at {} ({} times, ref {})",
                self.timestamp,
                self.service,
                self.guard,
                self.category,
                self.action,
                if self.server.is_empty() { String::new() } else { format!(" in {}", self.server) },
                self.place,
                self.count,
                reference.as_deref().unwrap_or("-"),
            ),
        }
    }
}
