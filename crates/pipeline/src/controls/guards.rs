//! The contract of content guards, and its use by the stages.

use std::fmt::Debug;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Direction, Json, Limits, Raw, ReplyTo, TargetName};
use failwell_toolbox::PortFuture;
use serde_json::json;

use crate::record::VerdictLog;

/// The protocol members end here; the rest of a notification is foreign content.
const PARAMS: &[u8] = b"\"params\":";

/// Guards that inspect the content of messages.
pub trait ContentGuards: Debug + Send + Sync {
    /// Inspects a message from byte `from` on. `None` lets the message pass unchanged; otherwise these bytes
    /// replace it.
    fn inspect(
        &self,
        direction: Direction,
        message: MessageMeta<'_>,
        bytes: &[u8],
        from: usize,
    ) -> Result<Option<Vec<u8>>, Fault>;
    /// Asks the guards that may take time, such as programs of the operator.
    fn ask<'a>(
        &'a self,
        direction: Direction,
        message: MessageMeta<'a>,
        bytes: &'a [u8],
        from: usize,
    ) -> PortFuture<'a, Result<Option<Vec<u8>>, Fault>>;
    /// Whether [`ContentGuards::ask`] has guards for this direction.
    fn asks_in(&self, direction: Direction) -> bool;
    /// Whether [`ContentGuards::ask`] has any guards.
    fn has_custom(&self) -> bool;
    /// Whether guard settings exist per server.
    fn knows_servers(&self) -> bool;
}

/// The facts about a message that guards can use.
#[derive(Debug, Clone, Copy)]
pub struct MessageMeta<'a> {
    /// The server whose settings apply; empty without settings per server.
    pub server: &'a str,
    /// The server that the message concerns, for custom guards.
    pub on: TargetName<'a>,
    /// The tool that the message concerns.
    pub tool: TargetName<'a>,
    pub method: &'a str,
    pub caller: &'a str,
    /// The destination of the response, if there is one.
    pub to: Option<&'a ReplyTo>,
    pub connection: &'a str,
    /// The log for verdicts.
    pub verdicts: Option<VerdictLog<'a>>,
}

impl Default for MessageMeta<'_> {
    fn default() -> Self {
        let (on, tool) = (TargetName::Unknown, TargetName::Unknown);
        MessageMeta { server: "", on, tool, method: "", caller: "", to: None, connection: "", verdicts: None }
    }
}

impl MessageMeta<'_> {
    /// A message to a client that is not a response.
    pub(crate) fn unasked(server: &str) -> MessageMeta<'_> {
        let on = if server.is_empty() { TargetName::Unknown } else { TargetName::Named(server) };
        MessageMeta { server, on, tool: TargetName::Unknown, ..MessageMeta::default() }
    }
}

impl dyn ContentGuards {
    /// Inspects params of a client without waiting. `None` lets them pass unchanged.
    pub(crate) fn incoming_now(&self, message: MessageMeta<'_>, json: &str) -> Result<Option<Json>, Fault> {
        self.inspect(Direction::Request, message, json.as_bytes(), 0)?.map(redacted).transpose()
    }

    /// Inspects params of a client. `None` lets them pass unchanged.
    pub async fn incoming(&self, message: MessageMeta<'_>, json: &str) -> Result<Option<Json>, Fault> {
        let clean = self.inspect(Direction::Request, message, json.as_bytes(), 0)?;
        let asked = match self.asks_in(Direction::Request) {
            true => {
                let bytes = clean.as_deref().unwrap_or(json.as_bytes());
                self.ask(Direction::Request, message, bytes, 0).await?
            }
            false => None,
        };
        asked.or(clean).map(redacted).transpose()
    }

    /// Inspects a notification or a question to a client.
    pub(crate) async fn outgoing(&self, server: &str, frame: String) -> Result<String, Fault> {
        let message = MessageMeta::unasked(server);
        let mut frame = match self.inspect(Direction::Notice, message, frame.as_bytes(), 0)? {
            Some(bytes) => String::from_utf8(bytes).or_fault(&reason::SERVER_BUG)?,
            None => frame,
        };
        if self.asks_in(Direction::Notice) {
            let from = memchr::memmem::find(frame.as_bytes(), PARAMS).unwrap_or(frame.len());
            if let Some(left) = self.ask(Direction::Notice, message, frame.as_bytes(), from).await? {
                frame = String::from_utf8(left).or_fault(&reason::SERVER_BUG)?;
            }
        }
        Ok(frame)
    }

    /// Inspects a notification. A blocked notification is dropped; the guards report it to the operator.
    pub(crate) async fn notice(&self, server: &str, frame: String) -> Option<String> {
        self.outgoing(server, frame).await.ok()
    }

    /// Inspects instructions of another server that become part of a response. Returns `None` if they are
    /// blocked. Both the settings of their server and the global settings apply. One server's text therefore
    /// never blocks a response.
    pub(crate) async fn quoted(&self, server: &str, words: &str) -> Option<String> {
        let mut message = json!({"instructions": words}).to_string();
        for server in [server, ""] {
            let meta = MessageMeta::unasked(server);
            if let Some(clean) = self.inspect(Direction::Result, meta, message.as_bytes(), 0).ok()? {
                message = String::from_utf8(clean).ok()?;
            }
        }
        if self.asks_in(Direction::Result) {
            let meta = MessageMeta::unasked(server);
            if let Some(left) = self.ask(Direction::Result, meta, message.as_bytes(), 0).await.ok()? {
                message = String::from_utf8(left).ok()?;
            }
        }
        let left = Json::read(&message, &Limits::default()).ok()?;
        let words = left.raw().as_object()?.get("instructions").and_then(Raw::as_str)?.into_owned();
        (!words.trim().is_empty()).then_some(words)
    }
}

/// Parses a message after redaction.
fn redacted(bytes: Vec<u8>) -> Result<Json, Fault> {
    let text = String::from_utf8(bytes).or_fault(&reason::SERVER_BUG)?;
    Json::read(&text, &Limits::default()).map_err(|_| Fault::new(&reason::SERVER_BUG))
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct NoGuards;

impl ContentGuards for NoGuards {
    fn inspect(
        &self,
        _: Direction,
        _: MessageMeta<'_>,
        _: &[u8],
        _: usize,
    ) -> Result<Option<Vec<u8>>, Fault> {
        Ok(None)
    }

    fn ask<'a>(
        &'a self,
        _: Direction,
        _: MessageMeta<'a>,
        _: &'a [u8],
        _: usize,
    ) -> PortFuture<'a, Result<Option<Vec<u8>>, Fault>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn asks_in(&self, _: Direction) -> bool {
        false
    }

    fn has_custom(&self) -> bool {
        false
    }

    fn knows_servers(&self) -> bool {
        false
    }
}
