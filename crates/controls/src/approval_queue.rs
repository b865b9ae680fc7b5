//! The queue where calls wait for a person's approval.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use failwell_fault::{Effect, Excerpt, Fault, Kind, Name, Retry, reason};
use failwell_pipeline::{ApprovalGrant, ApprovalNeed, Approvals, Verdict};
use failwell_rpc::Caller;
use tokio::sync::Semaphore;

use crate::approval_view::approval_view;
use crate::guards::GuardSet;
use failwell_store::{ApprovalOutcome, ApprovalRequest, ApprovalStore, ApprovalTerms, ApproverAnswer};
use failwell_toolbox::PortFuture;

/// The maximum size of the arguments that an approver is asked to read, in bytes.
const LARGEST: usize = 256 * 1024;
/// The maximum number of calls that wait for a decision. Further calls fail at once with the need for
/// approval.
const MOST_WAITING: usize = 64;
/// The poll interval for decisions: another process may have made them.
const LOOK: Duration = Duration::from_millis(300);
/// The retry delay while too many calls wait.
const COME_AGAIN: Duration = Duration::from_secs(60);

/// The queue in which calls wait for decisions of approvers.
pub struct ApprovalQueue {
    store: Arc<dyn ApprovalStore>,
    terms: ArcSwap<ApprovalTerms>,
    waiting: Semaphore,
}

impl ApprovalQueue {
    pub fn new(store: Arc<dyn ApprovalStore>, terms: ApprovalTerms) -> ApprovalQueue {
        ApprovalQueue { store, terms: ArcSwap::from_pointee(terms), waiting: Semaphore::new(MOST_WAITING) }
    }

    /// Replaces the terms. Returns whether they differ.
    pub fn replace(&self, terms: ApprovalTerms) -> bool {
        let differ = **self.terms.load() != terms;
        self.terms.store(Arc::new(terms));
        differ
    }

    /// The store of requests for approval and their decisions.
    pub(crate) fn store(&self) -> &Arc<dyn ApprovalStore> {
        &self.store
    }

    /// Whether a caller may see and decide approvals. Without authentication, every caller that gets here is
    /// on this machine.
    pub(crate) fn may_decide(&self, caller: &Caller) -> bool {
        *caller == Caller::anonymous() || self.terms.load().approvers.includes(caller)
    }

    /// Returns the state of the approval. Waits for a decision as long as the terms and the deadline allow.
    async fn await_decision(
        &self,
        petition: ApprovalRequest,
        deadline: Duration,
    ) -> Result<ApprovalOutcome, Fault> {
        let (petition, began) = (Arc::new(petition), Instant::now());
        let patience = self.terms.load().wait.min(deadline / 2);
        let mut outcome = self.store.claim(petition.clone()).await?;
        if !matches!(outcome, ApprovalOutcome::Open(_)) || patience.is_zero() {
            return Ok(outcome);
        }
        let Ok(_place) = self.waiting.try_acquire() else { return Ok(outcome) };
        while matches!(outcome, ApprovalOutcome::Open(_)) && began.elapsed() < patience {
            tokio::time::sleep(LOOK.min(patience.saturating_sub(began.elapsed()))).await;
            outcome = self.store.claim(petition.clone()).await?;
        }
        Ok(outcome)
    }
}

/// The queue, with the guards that redact the arguments an approver reads.
#[derive(Debug)]
pub(crate) struct GuardedApprovals {
    pub(crate) queue: Arc<ApprovalQueue>,
    pub(crate) guards: GuardSet,
}

impl GuardedApprovals {
    async fn request(&self, call: ApprovalNeed<'_>) -> Result<ApprovalGrant, Fault> {
        let ApprovalNeed { caller, server, tool, arguments, .. } = call;
        if arguments.text().len() > LARGEST {
            return Err(Fault::new(&reason::POLICY_APPROVAL_TOO_LARGE)
                .fact("limit", LARGEST)
                .retry_as(Retry::AfterChange));
        }
        let request = ApprovalRequest {
            reference: call.reference,
            caller: caller.name().to_string(),
            server: server.to_owned(),
            tool: tool.to_owned(),
            shown: approval_view(arguments, &|text| self.guards.scrub_secrets(text))?,
            binding: ApprovalRequest::binding(caller, server, tool, arguments),
            expires: self.queue.terms.load().expires,
        };
        let asked = Instant::now();
        let outcome = self.queue.await_decision(request, call.deadline).await?;
        call.log.notes.add_verdict(verdict(&outcome, asked, call.log.began));
        judged(outcome).map(|answer| ApprovalGrant { id: answer.id })
    }

    /// Returns the approval of a call that was not made: its client must answer a question first, or its
    /// server is unreachable.
    async fn restore(&self, grant: &ApprovalGrant, fault: &Fault) {
        let is_asked = *fault.reason() == reason::MCP_INPUT_NEEDED;
        let never_left = fault.kind() == Kind::Unavailable && fault.effect() == Effect::None;
        if is_asked || never_left {
            // If the return fails, the approval stays consumed: one more question is better than one more
            // call.
            let _ = self.queue.store.restore(&grant.id).await;
        }
    }
}

impl Approvals for GuardedApprovals {
    fn approve<'a>(&'a self, call: ApprovalNeed<'a>) -> PortFuture<'a, Result<ApprovalGrant, Fault>> {
        Box::pin(self.request(call))
    }

    fn give_back<'a>(&'a self, grant: &'a ApprovalGrant, fault: &'a Fault) -> PortFuture<'a, ()> {
        Box::pin(self.restore(grant, fault))
    }
}

fn judged(outcome: ApprovalOutcome) -> Result<ApproverAnswer, Fault> {
    let named = |fault: Fault, id: &str| match Name::parse(id) {
        Some(id) => fault.fact("approval", id),
        None => fault,
    };
    match outcome {
        ApprovalOutcome::Granted(given) => Ok(given),
        ApprovalOutcome::Open(id) => Err(named(Fault::new(&reason::POLICY_APPROVAL_NEEDED), &id)),
        ApprovalOutcome::Refused(given) => {
            let fault = named(Fault::new(&reason::POLICY_APPROVAL_DENIED), &given.id);
            let fault = fault.note("denied by", given.by);
            let excerpt = given.reason.as_deref().and_then(Excerpt::of_trusted);
            Err(match excerpt {
                Some(excerpt) => fault.with_excerpt(excerpt),
                None => fault,
            })
        }
        ApprovalOutcome::Full { limit } => Err(Fault::new(&reason::POLICY_RATE_LIMITED)
            .fact("exceeded", "approvals")
            .fact("limit", limit)
            .retry_as(Retry::After(COME_AGAIN))),
    }
}

/// The decision about one call, for its record.
fn verdict(outcome: &ApprovalOutcome, asked: Instant, began: Instant) -> Verdict {
    let answered = |given: &ApproverAnswer| vec![format!("approval {} by {}", given.id, given.by).into()];
    let (decided, found) = match outcome {
        ApprovalOutcome::Granted(given) => ("used", answered(given)),
        ApprovalOutcome::Refused(given) => ("denied", answered(given)),
        ApprovalOutcome::Open(id) => ("needed", vec![format!("approval {id}").into()]),
        ApprovalOutcome::Full { limit } => ("full", vec![format!("{limit} questions wait").into()]),
    };
    let (guard, looked_at) = ("approval".into(), "call");
    Verdict { guard, looked_at, decided, found, after: began.elapsed(), took: asked.elapsed() }
}

impl fmt::Debug for ApprovalQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalQueue").field("store", &self.store).finish_non_exhaustive()
    }
}
