use std::fmt::Debug;
use std::time::Duration;

use failwell_fault::{Fault, Ref};
use failwell_rpc::{Caller, Json};
use failwell_toolbox::PortFuture;

use crate::record::VerdictLog;

/// Human approval of calls.
pub trait Approvals: Debug + Send + Sync {
    /// Waits for the approval of exactly this call, and consumes it.
    fn approve<'a>(&'a self, call: ApprovalNeed<'a>) -> PortFuture<'a, Result<ApprovalGrant, Fault>>;
    /// Returns the approval of a call that this fault kept from its server.
    fn give_back<'a>(&'a self, grant: &'a ApprovalGrant, fault: &'a Fault) -> PortFuture<'a, ()>;
}

#[derive(Debug, Clone, Copy)]
pub struct ApprovalNeed<'a> {
    pub reference: Ref,
    pub caller: &'a Caller,
    pub server: &'a str,
    /// The server's own name of the tool.
    pub tool: &'a str,
    /// The exact arguments, which the approval is bound to.
    pub arguments: &'a Json,
    /// The deadline of the request.
    pub deadline: Duration,
    /// The log for the decision.
    pub log: VerdictLog<'a>,
}

/// An approval that a call has consumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalGrant {
    pub id: String,
}
