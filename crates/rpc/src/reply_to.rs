//! The reply address, captured once from the request before any work starts.

use crate::era::Revision;
use crate::id::Id;
use failwell_fault::Ref;

/// Everything that the renderer needs to know about the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyTo {
    /// The id to echo. `None` if it could not be read.
    pub id: Option<Id>,
    pub wants: ExpectedReply,
    /// The caller's dialect.
    pub dialect: Dialect,
    /// The type of result that the request expects.
    pub asked: ExpectedResult,
    /// The reference of the exchange in logs and ledger.
    pub reference: Ref,
}

/// Whether a caller expects a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedReply {
    /// A request: exactly one response.
    Answer,
    /// A notification or a cancelled request: no response.
    Silence,
}

/// The type of result that a request expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedResult {
    /// A tool result, which can report a failure to the model.
    Tool,
    /// A tool result, from a server whose failures are JSON-RPC errors.
    ToolOrError,
    /// Any other result.
    Other,
}

/// The wire form of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Mcp(Revision),
    /// Plain JSON-RPC 2.0.
    Rpc,
    Rest(RestStyle),
}

/// The format of a REST error body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestStyle {
    /// The format of the REST record (S4 in docs/sources.md).
    Plain,
    /// RFC 9457 problem details.
    Problem,
}

impl ReplyTo {
    pub fn request(id: Id, dialect: Dialect) -> Self {
        Self {
            id: Some(id),
            wants: ExpectedReply::Answer,
            dialect,
            asked: ExpectedResult::Other,
            reference: Ref::fresh(),
        }
    }

    /// No response, but failures still get a reference.
    pub fn notification(dialect: Dialect) -> Self {
        Self {
            id: None,
            wants: ExpectedReply::Silence,
            dialect,
            asked: ExpectedResult::Other,
            reference: Ref::fresh(),
        }
    }

    /// The reply to an invalid message: a response, with its id if readable.
    pub fn unreadable(id: Option<Id>, dialect: Dialect) -> Self {
        Self {
            id,
            wants: ExpectedReply::Answer,
            dialect,
            asked: ExpectedResult::Other,
            reference: Ref::fresh(),
        }
    }
}
