//! The desk where a call asks for a person's yes, and people give it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use failwell_audit::Verdict;
use failwell_fault::{Effect, Excerpt, Fault, Kind, Name, Retry, reason};
use failwell_policy::Caller;
use failwell_rpc::{Json, Limits};
use tokio::sync::Semaphore;

use crate::approval::{Approvals, Given, Petition, Standing, Terms};
use crate::context::Context;
use crate::guarding::{Gate, Watched};

/// The most bytes of arguments a person can be asked to read.
const LARGEST: usize = 256 * 1024;
/// Calls that wait for an answer at the same time; the next ones are told at once that they need one.
const MOST_WAITING: usize = 64;
/// How often the answer is looked for: another program may have given it.
const LOOK: Duration = Duration::from_millis(300);
/// When to come again while too many questions wait.
const COME_AGAIN: Duration = Duration::from_secs(60);

/// Where calls ask, and people answer.
pub struct ApprovalDesk {
    kept: Arc<dyn Approvals>,
    terms: ArcSwap<Terms>,
    waiting: Semaphore,
}

/// What was decided about one call, for its record.
#[derive(Debug)]
pub(crate) struct Noted {
    decided: &'static str,
    found: Vec<Cow<'static, str>>,
    asked: Instant,
    ended: Instant,
}

impl ApprovalDesk {
    /// A desk of these terms.
    pub fn new(kept: Arc<dyn Approvals>, terms: Terms) -> ApprovalDesk {
        ApprovalDesk { kept, terms: ArcSwap::from_pointee(terms), waiting: Semaphore::new(MOST_WAITING) }
    }

    /// Other terms from now on, whether they differ or not.
    pub fn replace(&self, terms: Terms) -> bool {
        let differ = **self.terms.load() != terms;
        self.terms.store(Arc::new(terms));
        differ
    }

    /// Who keeps what is asked and answered.
    pub(crate) fn kept(&self) -> &Arc<dyn Approvals> {
        &self.kept
    }

    /// Whether somebody may look at questions and answer them. Where nobody was asked for a name, whoever gets as far
    /// as here is on this machine.
    pub(crate) fn is_staffed_by(&self, caller: &Caller) -> bool {
        *caller == Caller::anonymous() || self.terms.load().approvers.includes(caller)
    }

    /// How a call stands, once there is an answer or no more time to wait for one.
    async fn standing(&self, petition: Petition, deadline: Duration) -> Result<Standing, Fault> {
        let (petition, began) = (Arc::new(petition), Instant::now());
        let patience = self.terms.load().wait.min(deadline / 2);
        let mut standing = self.kept.seek(petition.clone()).await?;
        if !matches!(standing, Standing::Open(_)) || patience.is_zero() {
            return Ok(standing);
        }
        let Ok(_place) = self.waiting.try_acquire() else { return Ok(standing) };
        while matches!(standing, Standing::Open(_)) && began.elapsed() < patience {
            tokio::time::sleep(LOOK.min(patience.saturating_sub(began.elapsed()))).await;
            standing = self.kept.seek(petition.clone()).await?;
        }
        Ok(standing)
    }
}

impl Context {
    /// Waits for a person's yes to this very call, as long as the operator wants calls to wait, and uses it up.
    pub async fn approval(&self, server: &str, tool: &str, arguments: &Json) -> Result<Given, Fault> {
        let house = self.house();
        let missing = || Fault::new(&reason::POLICY_UNDECIDED).note("approvals", "nobody keeps any here");
        let desk = house.settings.approvals.as_ref().ok_or_else(missing)?;
        if arguments.text().len() > LARGEST {
            return Err(Fault::new(&reason::POLICY_APPROVAL_TOO_LARGE)
                .fact("limit", LARGEST)
                .retry_as(Retry::AfterChange));
        }
        let caller = &self.client().caller;
        let petition = Petition {
            reference: self.reference(),
            caller: caller.name().to_string(),
            server: server.to_owned(),
            tool: tool.to_owned(),
            shown: shown(arguments, house.gate()),
            binding: Petition::binding(caller, server, tool, arguments),
            expires: desk.terms.load().expires,
        };
        let asked = Instant::now();
        let standing = desk.standing(petition, house.settings.request_deadline).await?;
        self.note(Noted::of(&standing, asked));
        judged(standing)
    }

    /// A yes is given back by a call that was not made: its client has to answer something first, or its server
    /// cannot be reached.
    pub async fn give_back(&self, given: &Given, fault: &Fault) {
        let is_asked = *fault.reason() == reason::MCP_INPUT_NEEDED;
        let never_left = fault.kind() == Kind::Unavailable && fault.effect() == Effect::None;
        if let Some(desk) = self.house().settings.approvals.as_ref().filter(|_| is_asked || never_left) {
            // If it cannot be given back it stays used: one more question rather than one more call.
            let _ = desk.kept.give_back(&given.id).await;
        }
    }
}

fn judged(standing: Standing) -> Result<Given, Fault> {
    let named = |fault: Fault, id: &str| match Name::parse(id) {
        Some(id) => fault.fact("approval", id),
        None => fault,
    };
    match standing {
        Standing::Granted(given) => Ok(given),
        Standing::Open(id) => Err(named(Fault::new(&reason::POLICY_APPROVAL_NEEDED), &id)),
        Standing::Refused(given) => {
            let fault = named(Fault::new(&reason::POLICY_APPROVAL_DENIED), &given.id);
            let fault = fault.note("denied by", given.by);
            let said = given.reason.as_deref().and_then(Excerpt::of_trusted);
            Err(match said {
                Some(said) => fault.with_excerpt(said),
                None => fault,
            })
        }
        Standing::Full { limit } => Err(Fault::new(&reason::POLICY_RATE_LIMITED)
            .fact("exceeded", "approvals")
            .fact("limit", limit)
            .retry_as(Retry::After(COME_AGAIN))),
    }
}

impl Noted {
    fn of(standing: &Standing, asked: Instant) -> Noted {
        let answered = |given: &Given| vec![format!("approval {} by {}", given.id, given.by).into()];
        let (decided, found) = match standing {
            Standing::Granted(given) => ("used", answered(given)),
            Standing::Refused(given) => ("denied", answered(given)),
            Standing::Open(id) => ("needed", vec![format!("approval {id}").into()]),
            Standing::Full { limit } => ("full", vec![format!("{limit} questions wait").into()]),
        };
        Noted { decided, found, asked, ended: Instant::now() }
    }

    /// Puts it beside what the guards said.
    pub(crate) fn onto(&self, watched: Watched<'_>) {
        watched.trail.decide(Verdict {
            guard: "approval".into(),
            looked_at: "call",
            decided: self.decided,
            found: self.found.clone(),
            after: self.ended.saturating_duration_since(watched.began),
            took: self.ended.saturating_duration_since(self.asked),
        });
    }
}

/// The arguments as a person may read them: every text without secrets, numbers to the last digit.
fn shown(arguments: &Json, gate: &Gate) -> String {
    let each = arguments.raw().canonical_with(&|text| gate.scrub(&text).into());
    // What is a secret by the name it stands under is found in the whole alone.
    let whole = gate.scrub(&each);
    match Json::read(&whole, &Limits::default()) {
        Ok(_) => whole,
        Err(_) => failwell_rpc::json_string(&whole),
    }
}

impl fmt::Debug for ApprovalDesk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalDesk").field("kept", &self.kept).finish_non_exhaustive()
    }
}
