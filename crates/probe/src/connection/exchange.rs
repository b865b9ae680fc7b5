//! One thing sent and everything that came back for it.

use super::message::Message;
use super::wire::response::Response;
use crate::revision::Revision;

/// The evidence a verdict is made from.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) revision: Revision,
    /// The id an answer must carry, as it was written.
    pub(crate) id: Option<String>,
    pub(crate) sent: Vec<u8>,
    pub(crate) got: Vec<u8>,
    pub(crate) messages: Vec<Message>,
    pub(crate) response: Option<Response>,
    /// Why nothing more could be heard: closed pipe, broken connection, time up.
    pub(crate) trouble: Option<String>,
}

/// The server's answer to a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ServerAnswer<'a> {
    /// A JSON-RPC error.
    Error { code: i64, message: &'a Message },
    /// A tool result that says it failed.
    Failed(&'a Message),
    /// Any other result.
    Result(&'a Message),
    /// Nothing that answers it.
    Nothing,
}

impl Exchange {
    pub(crate) fn status(&self) -> Option<u16> {
        self.response.as_ref().map(|response| response.status)
    }

    /// Answers to this request: those with its id, and errors that name no id.
    pub(crate) fn answers(&self) -> Vec<&Message> {
        let ours = |message: &&Message| match &self.id {
            Some(id) if message.has_id(id) => true,
            _ => message.has_no_id() || self.id.is_none(),
        };
        self.messages.iter().filter(|message| message.is_answer()).filter(ours).collect()
    }

    /// The first answer, by what it says.
    pub(crate) fn answer(&self) -> ServerAnswer<'_> {
        let Some(message) = self.answers().into_iter().next() else { return ServerAnswer::Nothing };
        if message.value.get("error").is_some() {
            return ServerAnswer::Error { code: message.error_code().unwrap_or(0), message };
        }
        if message.is_failed_tool() { ServerAnswer::Failed(message) } else { ServerAnswer::Result(message) }
    }

    /// Whether an answer carries exactly the id that was sent.
    pub(crate) fn echoes_id(&self, message: &Message) -> bool {
        self.id.as_ref().is_some_and(|id| message.has_id(id))
    }

    /// Adds what came late, while the server was asked whether it still lives.
    pub(crate) fn add_late(&mut self, late: Vec<(Vec<u8>, Message)>) {
        for (bytes, message) in late {
            self.got.extend_from_slice(&bytes);
            self.got.push(b'\n');
            self.messages.push(message);
        }
    }

    /// An exchange in which nothing was heard.
    pub(crate) fn silent(revision: Revision, sent: Vec<u8>) -> Self {
        Self {
            revision,
            id: None,
            sent,
            got: Vec::new(),
            messages: Vec::new(),
            response: None,
            trouble: None,
        }
    }
}
