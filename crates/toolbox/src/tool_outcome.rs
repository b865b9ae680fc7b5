//! The outcome of a tool call, and its MCP result.

pub(crate) mod typed_outcome;

use failwell_fault::{Effect, Fault, OrFault, Origin, Retry, reason};
use failwell_render::{Cache, Outcome, ReportedFailure, ResultKind, ToolFailure};
use failwell_rpc::{Json, Revision};
use serde::Serialize;

use crate::content::Content;
use crate::server::Members;

/// The outcome of a tool call.
#[derive(Debug, Default)]
pub struct ToolOutcome {
    pub(crate) content: Vec<Content>,
    pub(crate) structured: Option<Json>,
    pub(crate) verdict: Verdict,
}

#[derive(Debug, Default)]
pub(crate) enum Verdict {
    #[default]
    Done,
    MarkedAsError,
    Failed(Fault),
    Relayed(Members),
    /// An upstream result with `isError`, and a text for the operator.
    RelayedFailure(Members, String),
}

impl ToolOutcome {
    /// The structured result, if the tool succeeded.
    pub fn structured_success(&self) -> Option<&Json> {
        self.structured.as_ref().filter(|_| matches!(self.verdict, Verdict::Done))
    }

    /// Creates a result with one text block.
    pub fn text(text: impl Into<String>) -> ToolOutcome {
        ToolOutcome::default().with(Content::text(text))
    }

    /// Adds a content block.
    #[must_use]
    pub fn with(mut self, content: Content) -> ToolOutcome {
        self.content.push(content);
        self
    }

    /// Sets the structured result.
    #[must_use]
    pub fn structured(mut self, structured: Json) -> ToolOutcome {
        self.structured = Some(structured);
        self
    }

    /// Wraps the result of an upstream tool that succeeded, unchanged.
    pub fn relayed(members: Members) -> ToolOutcome {
        ToolOutcome { verdict: Verdict::Relayed(members), ..ToolOutcome::default() }
    }

    /// Wraps the result of an upstream tool that failed (`isError`), with a text for the operator.
    pub fn relayed_failure(members: Members, note: String) -> ToolOutcome {
        ToolOutcome { verdict: Verdict::RelayedFailure(members, note), ..ToolOutcome::default() }
    }

    /// Changes an upstream result. A local result stays unchanged.
    #[must_use]
    pub fn map_relayed(mut self, change: impl FnOnce(Members) -> Members) -> ToolOutcome {
        self.verdict = match self.verdict {
            Verdict::Relayed(members) => Verdict::Relayed(change(members)),
            Verdict::RelayedFailure(members, note) => Verdict::RelayedFailure(change(members), note),
            ours => ours,
        };
        self
    }

    /// Marks the result as a failure that has no reason in the catalogue.
    #[must_use]
    pub fn marked_as_error(mut self) -> ToolOutcome {
        self.verdict = Verdict::MarkedAsError;
        self
    }

    /// Marks the result as failed with this fault. The content blocks and the structured result are kept.
    #[must_use]
    pub fn failed(mut self, fault: Fault) -> ToolOutcome {
        self.verdict = Verdict::Failed(fault);
        self
    }
}

impl ToolOutcome {
    /// Converts the outcome to an MCP result of this revision.
    pub fn into_outcome(self, revision: Revision) -> Result<Outcome, Fault> {
        let ToolOutcome { content, structured, verdict } = self;
        let is_error = match verdict {
            Verdict::Relayed(relayed) => return Ok(relayed.into_outcome(None)),
            Verdict::RelayedFailure(relayed, note) => {
                return Ok(reported_failure(relayed, Origin::Upstream, Some(note)));
            }
            Verdict::Failed(fault) => {
                let blocks = content.iter().map(Json::of).collect::<Result<_, _>>();
                let blocks = blocks.or_fault(&reason::SERVER_BUG)?;
                return Ok(Outcome::ToolFailed(Box::new(ToolFailure { fault, structured, blocks })));
            }
            Verdict::MarkedAsError => Some(true),
            Verdict::Done => None,
        };
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct CallToolResult {
            content: Vec<Content>,
            #[serde(skip_serializing_if = "Option::is_none")]
            structured_content: Option<Json>,
            #[serde(skip_serializing_if = "Option::is_none")]
            is_error: Option<bool>,
        }
        let structured_content = structured.filter(|_| revision.has_structured_content());
        let written = Members::of(&CallToolResult { content, structured_content, is_error })?;
        Ok(match is_error {
            Some(_) => reported_failure(written, Origin::Server, None),
            None => written.into_outcome(None),
        })
    }
}

/// A failure that the tool itself reported. The tool ran, so its effect is unknown.
fn reported_failure(members: Members, origin: Origin, note: Option<String>) -> Outcome {
    let fault = Fault::new(&reason::MCP_TOOL_FAILED)
        .with_effect(Effect::Unknown)
        .retry_as(Retry::AfterChange)
        .from_origin(origin);
    let fault = match note {
        Some(note) => fault.note("result", note),
        None => fault,
    };
    let Members { members, meta, cache } = members;
    Outcome::ReportedFailure(Box::new(ReportedFailure { fault, members, meta, cache }))
}

impl Members {
    /// Converts the members to a complete result. `cache` applies if the result has no cache settings of its
    /// own.
    pub fn into_outcome(self, cache: impl Into<Option<Cache>>) -> Outcome {
        let Members { members, meta, cache: own } = self;
        Outcome::Mcp { members, meta, kind: ResultKind::Complete, cache: own.or(cache.into()) }
    }
}
