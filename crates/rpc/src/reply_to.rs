//! Where the reply goes: captured once from the request, before any work starts.

use crate::era::Revision;
use crate::id::Id;
use failwell_fault::Ref;

/// Everything the renderer needs to know about the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyTo {
    /// The id to echo; nothing when it could not be read.
    pub id: Option<Id>,
    /// Whether the caller waits for an answer.
    pub wants: Wants,
    /// The dialect the caller speaks.
    pub face: Face,
    /// What sort of answer the request is waiting for.
    pub asked: Asked,
    /// The reference under which the operator finds the whole story.
    pub reference: Ref,
}

/// Whether a caller waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// A request: exactly one answer.
    Answer,
    /// A notification or a cancelled request: none.
    Silence,
}

/// What sort of answer a request is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A tool's result, which can carry a failure the model should see.
    Tool,
    /// A tool's result, from a server whose failures are JSON-RPC errors.
    ToolOrError,
    /// Anything else.
    Other,
}

/// The dialect a caller speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// MCP at one revision.
    Mcp(Revision),
    /// Plain JSON-RPC 2.0.
    Rpc,
    /// REST.
    Rest(RestStyle),
}

/// The shape of a REST error body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestStyle {
    /// The server's own body.
    Plain,
    /// RFC 9457 problem details.
    Problem,
}

impl ReplyTo {
    /// The reply to a request.
    pub fn request(id: Id, face: Face) -> Self {
        Self { id: Some(id), wants: Wants::Answer, face, asked: Asked::Other, reference: Ref::fresh() }
    }

    /// The reply to a notification: silence, but failures still get a reference.
    pub fn notification(face: Face) -> Self {
        Self { id: None, wants: Wants::Silence, face, asked: Asked::Other, reference: Ref::fresh() }
    }

    /// The reply to bytes that could not be read as a message: an answer, with the id if there was one.
    pub fn misread(id: Option<Id>, face: Face) -> Self {
        Self { id, wants: Wants::Answer, face, asked: Asked::Other, reference: Ref::fresh() }
    }
}
