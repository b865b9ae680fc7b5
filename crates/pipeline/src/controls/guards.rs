//! The contract of content guards, and its use by the stages.

use std::fmt::Debug;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::{Direction, Json, Limits, Raw, ReplyTo, TargetName};
use failwell_toolbox::PortFuture;
use serde_json::json;

use crate::record::VerdictLog;

/// The protocol members end here; the rest of a notification is foreign content.
const PARAMS: &[u8] = b"\"params\":";

/// Larger messages are inspected apart. An ordinary text of this size takes less than a millisecond.
pub(crate) const LARGE: usize = 256 * 1024;

/// A message after its inspection.
#[derive(Debug)]
pub enum GuardedBytes {
    Unchanged(Vec<u8>),
    Redacted(Vec<u8>),
}

impl GuardedBytes {
    fn redacted(self) -> Option<Vec<u8>> {
        match self {
            GuardedBytes::Unchanged(_) => None,
            GuardedBytes::Redacted(bytes) => Some(bytes),
        }
    }
}

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
    /// Inspects a large message on a thread that serves no connection.
    fn inspect_apart<'a>(
        &'a self,
        direction: Direction,
        message: MessageMeta<'a>,
        bytes: Vec<u8>,
        from: usize,
    ) -> PortFuture<'a, Result<GuardedBytes, Fault>>;
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
    /// Inspects a message of any size.
    pub(crate) async fn inspect_any(
        &self,
        direction: Direction,
        message: MessageMeta<'_>,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, Fault> {
        match bytes.len() > LARGE {
            false => self.inspect(direction, message, bytes, 0),
            true => Ok(self.inspect_apart(direction, message, bytes.to_vec(), 0).await?.redacted()),
        }
    }

    /// Inspects content for a caller that is not part of a rendered response. `None` lets it pass unchanged.
    pub async fn content(&self, message: MessageMeta<'_>, json: Vec<u8>) -> Result<Option<Vec<u8>>, Fault> {
        Ok(self.inspect_apart(Direction::Result, message, json, 0).await?.redacted())
    }

    /// Inspects a notification or a question to a client.
    pub(crate) async fn outgoing(&self, server: &str, frame: String) -> Result<String, Fault> {
        let message = MessageMeta::unasked(server);
        let mut frame = match self.inspect_any(Direction::Notice, message, frame.as_bytes()).await? {
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
            if let Some(clean) = self.inspect_any(Direction::Result, meta, message.as_bytes()).await.ok()? {
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

    fn inspect_apart<'a>(
        &'a self,
        _: Direction,
        _: MessageMeta<'a>,
        bytes: Vec<u8>,
        _: usize,
    ) -> PortFuture<'a, Result<GuardedBytes, Fault>> {
        Box::pin(std::future::ready(Ok(GuardedBytes::Unchanged(bytes))))
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
