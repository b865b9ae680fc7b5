//! REST calls about approvals: the waiting calls, and the decisions of approvers.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use failwell_fault::{Fault, OrFault, reason};
use failwell_pipeline::{ExtensionCall, ExtensionOutcome, ExtensionRequest, ResponseContent, Verdict};
use failwell_rpc::{Caller, Json};
use failwell_toolbox::Work;
use serde_json::json;

use crate::approval_queue::ApprovalQueue;
use failwell_store::{Approval, DecideResult, Decision};

/// The maximum length of a decision's reason, in characters.
const LONGEST_REASON: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalCall {
    /// All stored approvals.
    List,
    /// One approval, with all its arguments.
    Show(String),
    Decide {
        id: String,
        decision: Decision,
        reason: Option<String>,
    },
}

impl ApprovalCall {
    fn target(&self) -> Option<&str> {
        match self {
            ApprovalCall::List => None,
            ApprovalCall::Show(id) | ApprovalCall::Decide { id, .. } => Some(id),
        }
    }

    fn method(&self) -> &'static str {
        match self {
            ApprovalCall::List => "approvals/list",
            ApprovalCall::Show(_) => "approvals/get",
            ApprovalCall::Decide { .. } => "approvals/decide",
        }
    }
}

impl ApprovalCall {
    /// The reason of a decision, which guards inspect.
    fn reason(&self) -> Option<&str> {
        match self {
            ApprovalCall::Decide { reason, .. } => reason.as_deref(),
            ApprovalCall::List | ApprovalCall::Show(_) => None,
        }
    }

    /// Returns the same decision with its redacted reason.
    fn with_reason(self, clean: Option<String>) -> ApprovalCall {
        match self {
            ApprovalCall::Decide { id, decision, reason } => {
                ApprovalCall::Decide { id, decision, reason: clean.or(reason) }
            }
            other => other,
        }
    }
}

/// A call about approvals, with the queue it concerns.
#[derive(Debug)]
pub(crate) struct ApprovalsRequest {
    pub(crate) call: ApprovalCall,
    pub(crate) queue: Option<Arc<ApprovalQueue>>,
}

impl ExtensionCall for ApprovalsRequest {
    fn method(&self) -> &'static str {
        self.call.method()
    }

    fn target(&self) -> Option<&str> {
        self.call.target()
    }

    fn content(&self) -> Result<Option<Cow<'_, str>>, Fault> {
        Ok(self.call.reason().map(|reason| Cow::Owned(failwell_rpc::json_string(reason))))
    }

    fn with_content(self: Box<Self>, clean: Json) -> Result<Box<dyn ExtensionCall>, Fault> {
        let reason = clean.raw().as_str().map(Cow::into_owned);
        Ok(Box::new(ApprovalsRequest { call: self.call.with_reason(reason), queue: self.queue }))
    }

    fn response(&self) -> ResponseContent {
        ResponseContent::Complete
    }

    fn serve(self: Box<Self>, request: ExtensionRequest) -> Work<ExtensionOutcome> {
        Box::pin(serve(self.call, self.queue, request))
    }
}

async fn serve(
    call: ApprovalCall,
    queue: Option<Arc<ApprovalQueue>>,
    request: ExtensionRequest,
) -> Result<ExtensionOutcome, Fault> {
    let queue = queue.ok_or_else(|| Fault::new(&reason::HTTP_UNKNOWN_PATH))?;
    if !queue.may_decide(&request.cx.client().caller) {
        return Err(Fault::new(&reason::POLICY_DENIED).note("approvals", "the caller is no approver"));
    }
    match call {
        ApprovalCall::List => value(&json!({"approvals": queue.store().all().await?})),
        ApprovalCall::Show(id) => value(&found(&queue, &id).await?),
        ApprovalCall::Decide { id, decision, reason } => {
            let reason = reason.map(|reason| reason.chars().take(LONGEST_REASON).collect::<String>());
            decide(&queue, &id, decision, reason.as_deref(), &request).await
        }
    }
}

async fn decide(
    queue: &ApprovalQueue,
    id: &str,
    decision: Decision,
    reason: Option<&str>,
    request: &ExtensionRequest,
) -> Result<ExtensionOutcome, Fault> {
    let (began, caller) = (Instant::now(), &request.cx.client().caller);
    let asked = found(queue, id).await?;
    // A named caller must not approve its own call.
    if *caller != Caller::anonymous() && asked.caller == **caller.name() {
        return Err(Fault::new(&reason::POLICY_DENIED).note("approvals", "the call is the approver's own"));
    }
    match queue.store().decide(id, decision, caller.name(), reason).await? {
        DecideResult::Done(approval) => {
            let verdicts = vec![verdict(&approval, decision, request.began, began)];
            Ok(ExtensionOutcome { verdicts, ..value(&*approval)? })
        }
        DecideResult::Settled(state) => {
            Err(Fault::new(&reason::POLICY_APPROVAL_SETTLED).fact("state", state))
        }
        DecideResult::Unknown => Err(Fault::new(&reason::POLICY_APPROVAL_UNKNOWN)),
    }
}

/// The decision about a call, for the record.
fn verdict(approval: &Approval, decision: Decision, exchange: Instant, began: Instant) -> Verdict {
    Verdict {
        guard: "approval".into(),
        looked_at: "answer",
        decided: decision.as_str(),
        found: approval.describe().into_iter().map(Cow::Owned).collect(),
        after: exchange.elapsed(),
        took: began.elapsed(),
    }
}

async fn found(queue: &ApprovalQueue, id: &str) -> Result<Approval, Fault> {
    queue.store().find(id).await?.ok_or_else(|| Fault::new(&reason::POLICY_APPROVAL_UNKNOWN))
}

fn value(value: &impl serde::Serialize) -> Result<ExtensionOutcome, Fault> {
    Ok(Json::of(value).or_fault(&reason::SERVER_BUG)?.into())
}
