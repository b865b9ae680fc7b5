//! What people ask about calls that need their yes, and what they answer, over REST.

use std::borrow::Cow;
use std::time::Instant;

use failwell_audit::Verdict;
use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_render::Outcome;
use failwell_rpc::Json;
use serde_json::json;

use crate::approval::{Approval, Decided, Decision};
use crate::approving::ApprovalDesk;
use crate::guarding::Whose;
use crate::house::House;

/// The most characters of what somebody says with an answer.
const LONGEST_REASON: usize = 1_000;

/// What somebody wants of the desk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalCall {
    /// Everything that is remembered.
    List,
    /// One question, with all of its arguments.
    Show(String),
    /// An answer.
    Decide {
        /// Which question.
        id: String,
        /// Yes or no.
        decision: Decision,
        /// Why.
        reason: Option<String>,
    },
}

impl ApprovalCall {
    pub(crate) fn target(&self) -> Option<&str> {
        match self {
            ApprovalCall::List => None,
            ApprovalCall::Show(id) | ApprovalCall::Decide { id, .. } => Some(id),
        }
    }

    pub(crate) fn method(&self) -> &'static str {
        match self {
            ApprovalCall::List => "approvals/list",
            ApprovalCall::Show(_) => "approvals/get",
            ApprovalCall::Decide { .. } => "approvals/decide",
        }
    }
}

impl House {
    pub(crate) async fn serve_approvals(
        &self,
        call: ApprovalCall,
        caller: &Caller,
        whose: Whose<'_>,
    ) -> Result<Outcome, Fault> {
        let unknown_path = || Fault::new(&reason::HTTP_UNKNOWN_PATH);
        let desk = self.settings.approvals.as_ref().ok_or_else(unknown_path)?;
        if !desk.is_staffed_by(caller) {
            return Err(Fault::new(&reason::POLICY_DENIED).note("approvals", "the caller is no approver"));
        }
        match call {
            ApprovalCall::List => value(&json!({"approvals": desk.kept().all().await?})),
            ApprovalCall::Show(id) => value(&found(desk, &id).await?),
            ApprovalCall::Decide { id, decision, reason } => {
                let reason = self.said(reason, whose)?;
                self.decide(desk, &id, decision, reason.as_deref(), caller, whose).await
            }
        }
    }

    /// What was said with an answer, short and without what the guards take out.
    fn said(&self, reason: Option<String>, whose: Whose<'_>) -> Result<Option<String>, Fault> {
        let Some(reason) = reason else { return Ok(None) };
        let clean = self.porter.incoming(whose, &failwell_rpc::json_string(&reason))?;
        let reason = clean.and_then(|json| json.raw().as_str().map(Cow::into_owned)).unwrap_or(reason);
        Ok(Some(reason.chars().take(LONGEST_REASON).collect()))
    }

    async fn decide(
        &self,
        desk: &ApprovalDesk,
        id: &str,
        decision: Decision,
        reason: Option<&str>,
        caller: &Caller,
        whose: Whose<'_>,
    ) -> Result<Outcome, Fault> {
        let began = Instant::now();
        let asked = found(desk, id).await?;
        // Where callers have names, nobody says yes to a call of their own.
        if *caller != Caller::anonymous() && asked.caller == **caller.name() {
            return Err(
                Fault::new(&reason::POLICY_DENIED).note("approvals", "the call is the approver's own")
            );
        }
        match desk.kept().decide(id, decision, caller.name(), reason).await? {
            Decided::Done(approval) => {
                if let Some(watched) = whose.watched {
                    watched.trail.decide(verdict(&approval, decision, watched.began, began));
                }
                value(&*approval)
            }
            Decided::Settled(state) => Err(Fault::new(&reason::POLICY_APPROVAL_SETTLED).fact("state", state)),
            Decided::Unknown => Err(Fault::new(&reason::POLICY_APPROVAL_UNKNOWN)),
        }
    }
}

/// What was decided about which call, for the record.
fn verdict(approval: &Approval, decision: Decision, exchange: Instant, began: Instant) -> Verdict {
    Verdict {
        guard: "approval".into(),
        looked_at: "answer",
        decided: decision.as_str(),
        found: approval.about().into_iter().map(Cow::Owned).collect(),
        after: exchange.elapsed(),
        took: began.elapsed(),
    }
}

impl Approval {
    /// What a record of its answer says: which question, whose call, of what, and why.
    pub fn about(&self) -> Vec<String> {
        let call = format!("{}__{} for {}", self.server, self.tool, self.caller);
        let mut about = vec![format!("approval {}", self.id), call];
        about.extend(self.reason.as_ref().map(|reason| format!("because {reason}")));
        about
    }
}

async fn found(desk: &ApprovalDesk, id: &str) -> Result<Approval, Fault> {
    desk.kept().find(id).await?.ok_or_else(|| Fault::new(&reason::POLICY_APPROVAL_UNKNOWN))
}

fn value(value: &impl serde::Serialize) -> Result<Outcome, Fault> {
    Ok(Outcome::Value(Json::of(value).or_fault(&reason::SERVER_BUG)?))
}
