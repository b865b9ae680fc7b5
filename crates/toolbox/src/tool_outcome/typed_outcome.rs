//! A typed result with a text of its own.

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::Json;
use serde::Serialize;

use crate::content::Content;
use crate::tool_outcome::ToolOutcome;

/// A typed result with a text of its own, for [`Tool::typed_outcome`](crate::Tool::typed_outcome).
#[derive(Debug)]
pub struct TypedOutcome<O> {
    object: Option<O>,
    outcome: ToolOutcome,
}

impl<O: Serialize> TypedOutcome<O> {
    /// Creates a result: an object, and what it says as text.
    pub fn new(object: O, text: impl Into<String>) -> TypedOutcome<O> {
        TypedOutcome { object: Some(object), outcome: ToolOutcome::text(text) }
    }

    /// Wraps a failure that shows something else than an object of this type.
    pub fn failure(outcome: ToolOutcome, fault: Fault) -> TypedOutcome<O> {
        TypedOutcome { object: None, outcome: outcome.failed(fault) }
    }

    /// Adds a content block.
    #[must_use]
    pub fn with(mut self, content: Content) -> TypedOutcome<O> {
        self.outcome = self.outcome.with(content);
        self
    }

    /// Marks the result as failed with this fault. The text, the blocks and the object are kept.
    #[must_use]
    pub fn failed(mut self, fault: Fault) -> TypedOutcome<O> {
        self.outcome = self.outcome.failed(fault);
        self
    }

    pub(crate) fn into_outcome(self) -> Result<ToolOutcome, Fault> {
        let TypedOutcome { object, outcome } = self;
        match object {
            Some(object) => Ok(outcome.structured(Json::of(&object).or_fault(&reason::SERVER_BUG)?)),
            None => Ok(outcome),
        }
    }
}
