use failwell_rpc::ReplyTo;
use serde_json::json;

use crate::Style;
use crate::redact::Redact;

/// Bytes of an id a line may carry.
const MOST_ID: usize = 1_024;

/// Something a content guard found: what and where, never the content.
#[derive(Debug)]
pub struct Sighting<'a> {
    /// When, as RFC 3339.
    pub timestamp: &'a str,
    /// Which house.
    pub service: &'a str,
    /// Which server the message was for, where servers are told apart.
    pub server: &'a str,
    /// Which connection or session it came in on.
    pub connection: &'a str,
    /// Where the answer goes, if there is to be one.
    pub to: Option<&'a ReplyTo>,
    /// Which guard.
    pub guard: &'a str,
    /// What sort of thing.
    pub category: &'a str,
    /// What was done about it.
    pub action: &'a str,
    /// Where in the message.
    pub place: &'a str,
    /// How often.
    pub count: usize,
}

impl Sighting<'_> {
    /// The line, without its line break.
    pub(crate) fn line(&self, style: Style, redact: &Redact) -> String {
        let reference = self.to.map(|to| to.reference.to_string());
        match style {
            Style::Json => json!({
                "timestamp": self.timestamp,
                "level": "info",
                "message": "a content guard found something",
                "service": self.service,
                "request_id": self.to.and_then(|to| to.id.as_ref()).map(|id| redact.text(id.text(), MOST_ID)),
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
            Style::Text => format!(
                "{} info  {} guard {}/{} {} at {} ({} times, ref {})",
                self.timestamp,
                self.service,
                self.guard,
                self.category,
                self.action,
                self.place,
                self.count,
                reference.as_deref().unwrap_or("-"),
            ),
        }
    }
}
