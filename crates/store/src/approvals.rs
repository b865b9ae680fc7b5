//! Calls that need human approval: requests, decisions, and the trait of their store.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Ref;
use failwell_policy::CallerMatcher;
use failwell_rpc::Caller;
use failwell_rpc::Json;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::StoreFuture as Work;

mod rows;
mod sqlite;

pub use sqlite::SqliteApprovals;

/// Settings for calls that need human approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalTerms {
    /// Time that a call waits for a decision before it is refused.
    pub wait: Duration,
    /// Lifetime of a pending request, and of an approval until it is used.
    pub expires: Duration,
    /// Callers that may decide over HTTP, if callers are authenticated.
    pub approvers: CallerMatcher,
}

impl Default for ApprovalTerms {
    fn default() -> ApprovalTerms {
        let expires = Duration::from_secs(3_600);
        ApprovalTerms { wait: Duration::ZERO, expires, approvers: CallerMatcher::new(["role:admin"]) }
    }
}

/// A call that needs approval.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The reference of the call. It becomes the id of the approval.
    pub reference: Ref,
    pub caller: String,
    pub server: String,
    /// The server's own name of the tool.
    pub tool: String,
    /// The arguments for the approver to read, with secrets redacted.
    pub shown: String,
    /// The hash that the approval is bound to.
    pub binding: [u8; 32],
    /// Lifetime of the request and of its decision.
    pub expires: Duration,
}

impl ApprovalRequest {
    /// Hashes caller, server, tool and canonical arguments. An approval is valid for exactly this
    /// combination.
    pub fn binding(caller: &Caller, server: &str, tool: &str, arguments: &Json) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [&**caller.name(), server, tool, &arguments.raw().canonical()] {
            // Hash the length first, so that different lists of parts never produce the same bytes.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().into()
    }
}

/// The state of an approval when its call arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalOutcome {
    /// The call is approved, and this call has used the approval.
    Granted(ApproverAnswer),
    Refused(ApproverAnswer),
    /// The decision is pending. Holds the id of the approval.
    Open(String),
    /// The maximum number of pending approvals is reached.
    Full {
        /// The maximum number.
        limit: u64,
    },
}

/// A decision that was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApproverAnswer {
    /// The id of the approval.
    pub id: String,
    pub by: String,
    pub reason: Option<String>,
}

/// An approval request and its state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// The reference of the call that asked first.
    pub id: String,
    /// `pending`, `approved`, `denied`, `used` or `expired`.
    pub state: &'static str,
    pub caller: String,
    pub server: String,
    /// The server's own name of the tool.
    pub tool: String,
    /// The arguments with secrets redacted; omitted in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Json>,
    /// The time of the request, in milliseconds since 1970.
    pub asked_ms: i64,
    /// The expiry of the request or of its decision, in milliseconds since 1970.
    pub expires_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_ms: Option<i64>,
    /// The configuration of the gateway, if several gateways share a folder.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
}

impl Approval {
    /// The texts for the ledger: the id, the call, and the approver's reason if given.
    pub fn describe(&self) -> Vec<String> {
        let call = format!("{}__{} for {}", self.server, self.tool, self.caller);
        let mut texts = vec![format!("approval {}", self.id), call];
        texts.extend(self.reason.as_ref().map(|reason| format!("because {reason}")));
        texts
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Approve,
    Deny,
}

impl Decision {
    pub fn parse(word: &str) -> Option<Decision> {
        match word {
            "approve" => Some(Decision::Approve),
            "deny" => Some(Decision::Deny),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Approve => "approve",
            Decision::Deny => "deny",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecideResult {
    /// The decision is stored.
    Done(Box<Approval>),
    /// The approval is no longer pending. Holds its state.
    Settled(&'static str),
    Unknown,
}

/// Stores approvals across restarts and shares them with other processes. A store that cannot be read or
/// written fails with `policy/UNDECIDED`.
pub trait ApprovalStore: Debug + Send + Sync + 'static {
    /// Uses an approval, reports a denial, or stores a pending request unless one exists. Of several
    /// concurrent calls, one uses the approval.
    fn claim(&self, request: Arc<ApprovalRequest>) -> Work<ApprovalOutcome>;
    /// Makes a used approval valid again, because its call was not made. The expiry stays the same.
    fn restore(&self, id: &str) -> Work<()>;
    /// All stored approvals without arguments, newest first.
    fn all(&self) -> Work<Vec<Approval>>;
    fn find(&self, id: &str) -> Work<Option<Approval>>;
    /// Decides a pending request.
    fn decide(&self, id: &str, decision: Decision, by: &str, reason: Option<&str>) -> Work<DecideResult>;
}
