//! Custom guards: their selection for a message, and the effect of a verdict or of its absence.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use failwell_fault::{Fault, Name, Retry, reason};
use failwell_journal::{Entry, GuardNotice};
use failwell_pipeline::{MessageMeta, Verdict as Decision};
use failwell_policy::guard::Action;
use failwell_policy::guard::custom::{
    CustomGuard, CustomRule, CustomVerdict, GuardRequest, MessageContext, redact,
};
use failwell_render::Moment;
use failwell_rpc::{Dialect, Direction, ReplyTo, Revision};

use crate::guards::GuardRunner;
use failwell_toolbox::MetricsText;

/// The minimum interval between reports of a failing guard that is allowed to fail.
const TELL: Duration = Duration::from_secs(1);

/// All custom guards, in the order of evaluation.
#[derive(Debug, Clone, Default)]
pub struct CustomGuards(Arc<[ConfiguredGuard]>);

#[derive(Debug, Clone)]
pub struct ConfiguredGuard {
    rule: CustomRule,
    judge: Arc<dyn CustomGuard>,
    tally: Arc<Tally>,
}

impl ConfiguredGuard {
    /// Creates a guard with this rule. `judge` makes its decisions.
    pub fn new(rule: CustomRule, judge: Arc<dyn CustomGuard>) -> ConfiguredGuard {
        ConfiguredGuard { rule, judge, tally: Arc::default() }
    }

    pub fn rule(&self) -> &CustomRule {
        &self.rule
    }

    /// Returns the same guard with another rule. Its judge and its counters stay.
    #[must_use]
    pub fn ruled(&self, rule: CustomRule) -> ConfiguredGuard {
        ConfiguredGuard { rule, judge: self.judge.clone(), tally: self.tally.clone() }
    }
}

impl FromIterator<ConfiguredGuard> for CustomGuards {
    fn from_iter<I: IntoIterator<Item = ConfiguredGuard>>(all: I) -> CustomGuards {
        let mut all: Vec<ConfiguredGuard> = all.into_iter().collect();
        // The sort is stable: guards of equal priority keep their order in the file.
        all.sort_by_key(|custom| custom.rule.priority);
        CustomGuards(all.into())
    }
}

impl CustomGuards {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn watch(&self, direction: Direction) -> bool {
        self.0.iter().any(|custom| custom.rule.directions.contains(&direction))
    }

    /// Writes the verdict counts of each guard.
    pub(crate) fn write_numbers(&self, out: &mut MetricsText) {
        const VERDICTS: &str = "failwell_custom_guard_verdicts_total";
        const SECONDS: &str = "failwell_custom_guard_seconds_total";
        if self.is_empty() {
            return;
        }
        out.family(VERDICTS, "counter", "Verdicts of custom guards.");
        for custom in self.0.iter() {
            for (verdict, count) in custom.tally.counts() {
                out.put(VERDICTS, &[("guard", &custom.rule.name), ("verdict", verdict)], count);
            }
        }
        out.family(SECONDS, "counter", "Time that custom guards took.");
        for custom in self.0.iter() {
            let seconds = Duration::from_micros(custom.tally.micros.load(Ordering::Relaxed)).as_secs_f64();
            out.put(SECONDS, &[("guard", &custom.rule.name)], seconds);
        }
    }
}

/// The verdict counts of one guard.
#[derive(Debug, Default)]
struct Tally {
    allowed: AtomicU64,
    redacted: AtomicU64,
    denied: AtomicU64,
    failed: AtomicU64,
    micros: AtomicU64,
    /// The time of the last report in milliseconds since 1970, and the number of failures since.
    told_at: AtomicU64,
    untold: AtomicU64,
}

impl Tally {
    fn counts(&self) -> [(&'static str, u64); 4] {
        [
            ("allow", &self.allowed),
            ("redact", &self.redacted),
            ("deny", &self.denied),
            ("failed", &self.failed),
        ]
        .map(|(name, counter)| (name, counter.load(Ordering::Relaxed)))
    }

    fn note(&self, verdict: &Result<CustomVerdict, Fault>, took: Duration) {
        let counter = match verdict {
            Ok(CustomVerdict::Allow) => &self.allowed,
            Ok(CustomVerdict::Redact { .. }) => &self.redacted,
            Ok(CustomVerdict::Deny { .. }) => &self.denied,
            Err(_) => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The number of failures to report, if a report is due.
    fn to_tell(&self, now: SystemTime) -> Option<u64> {
        let now = u64::try_from(Moment::from(now).unix_millis()).unwrap_or(0);
        let last = self.told_at.load(Ordering::Relaxed);
        self.untold.fetch_add(1, Ordering::Relaxed);
        let is_time = now.saturating_sub(last) >= u64::try_from(TELL.as_millis()).unwrap_or(0);
        let is_ours =
            || self.told_at.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        (is_time && is_ours()).then(|| self.untold.swap(0, Ordering::Relaxed))
    }
}

/// One message that the custom guards inspect.
#[derive(Clone, Copy)]
pub(crate) struct GuardedMessage<'a> {
    pub(crate) direction: Direction,
    pub(crate) meta: MessageMeta<'a>,
    /// The offset of the content; earlier bytes belong to the protocol.
    pub(crate) from: usize,
}

impl GuardRunner {
    /// Runs the custom guards on a message. Returns the replacement, or `None` if the message passes
    /// unchanged.
    pub(crate) async fn ask_custom(
        &self,
        guarded: GuardedMessage<'_>,
        message: &[u8],
    ) -> Result<Option<Vec<u8>>, Fault> {
        let configured = self.guard_set.custom_guards();
        let about = MessageContext { server: guarded.meta.on, tool: guarded.meta.tool };
        let mut changed: Option<Vec<u8>> = None;
        for custom in configured.0.iter().filter(|custom| custom.rule.applies(guarded.direction, &about)) {
            let before = changed.as_deref().unwrap_or(message);
            if let Some(after) = self.ask_one(custom, guarded, before).await? {
                changed = Some(after);
            }
        }
        Ok(changed)
    }

    async fn ask_one(
        &self,
        custom: &ConfiguredGuard,
        guarded: GuardedMessage<'_>,
        message: &[u8],
    ) -> Result<Option<Vec<u8>>, Fault> {
        let since = Instant::now();
        let verdict = match self.opinion(custom, guarded, message, since).await {
            Ok(CustomVerdict::Redact { category, request }) => {
                let label = format!("[redacted: {}/{}]", custom.rule.name, category.as_str());
                let taken = redact(message, guarded.from, &label, &request);
                taken.map(|taken| (CustomVerdict::Redact { category, request }, Some(taken)))
            }
            Ok(opinion) => Ok((opinion, None)),
            Err(fault) => Err(fault),
        };
        let (verdict, taken) = match verdict {
            Ok((opinion, taken)) => (Ok(opinion), taken),
            Err(fault) => (Err(named(fault, &custom.rule.name)), None),
        };
        custom.tally.note(&verdict, since.elapsed());
        self.write_down(custom, guarded, &verdict, since);
        match verdict {
            Ok(CustomVerdict::Allow) => Ok(None),
            Ok(CustomVerdict::Redact { category, .. }) => {
                let count = taken.as_ref().map_or(0, |(_, count)| *count);
                self.note_finding(custom, guarded.meta, (&category, Action::Redact), count);
                Ok(taken.map(|(bytes, _)| bytes))
            }
            Ok(CustomVerdict::Deny { category, message }) => {
                self.note_finding(custom, guarded.meta, (&category, Action::Block), 1);
                Err(denied(&custom.rule.name, category, message))
            }
            Err(fault) if custom.rule.critical => Err(fault),
            Err(fault) => {
                self.pass_over(custom, guarded.meta, fault);
                Ok(None)
            }
        }
    }

    async fn opinion(
        &self,
        custom: &ConfiguredGuard,
        guarded: GuardedMessage<'_>,
        message: &[u8],
        since: Instant,
    ) -> Result<CustomVerdict, Fault> {
        let meta = guarded.meta;
        let deadline = since + custom.rule.timeout;
        let question = GuardRequest {
            guard: &custom.rule.name,
            direction: guarded.direction,
            server: meta.on.name(),
            tool: meta.tool.name(),
            method: meta.method,
            caller: meta.caller,
            message: std::str::from_utf8(message).unwrap_or("null"),
            deadline,
        };
        let late = |_| Err(Fault::new(&reason::POLICY_GUARD_FAILED).fact("why", "it did not answer in time"));
        tokio::time::timeout_at(deadline.into(), custom.judge.judge(question)).await.unwrap_or_else(late)
    }

    /// Records the verdict for the exchange.
    fn write_down(
        &self,
        custom: &ConfiguredGuard,
        guarded: GuardedMessage<'_>,
        verdict: &Result<CustomVerdict, Fault>,
        since: Instant,
    ) {
        let Some(log) = guarded.meta.verdicts else { return };
        let (decided, found) = match verdict {
            Ok(CustomVerdict::Allow) => ("pass", Vec::new()),
            Ok(CustomVerdict::Redact { category, .. }) => {
                ("redact", vec![category.as_str().to_owned().into()])
            }
            Ok(CustomVerdict::Deny { category, .. }) => ("block", vec![category.as_str().to_owned().into()]),
            Err(fault) => {
                let why = fault.get("why").map_or_else(String::new, ToString::to_string);
                ("failed", vec![why.into()])
            }
        };
        log.notes.add_verdict(Decision {
            guard: custom.rule.name.clone().into(),
            looked_at: guarded.direction.looked_at(),
            decided,
            found,
            after: log.began.elapsed(),
            took: since.elapsed(),
        });
    }

    fn note_finding(
        &self,
        custom: &ConfiguredGuard,
        meta: MessageMeta<'_>,
        (category, action): (&Name, Action),
        count: usize,
    ) {
        self.journal.note_guard(&GuardNotice {
            timestamp: &Moment::now().to_string(),
            service: self.service,
            server: meta.on.name(),
            connection: meta.connection,
            to: meta.to,
            guard: &custom.rule.name,
            category: category.as_str(),
            action: action.as_str(),
            place: "/",
            count,
        });
    }

    /// Reports the failure of a guard that is allowed to fail, at a limited rate.
    fn pass_over(&self, custom: &ConfiguredGuard, meta: MessageMeta<'_>, fault: Fault) {
        let at = SystemTime::now();
        let Some(times) = custom.tally.to_tell(at) else { return };
        let anonymous = || ReplyTo::unreadable(None, Dialect::Mcp(Revision::LATEST));
        self.journal.fault(Entry {
            at,
            service: self.service,
            connection: meta.connection.to_owned().into(),
            method: Some("guard".into()),
            target: None,
            to: meta.to.cloned().unwrap_or_else(anonymous),
            trace: None,
            fault: Arc::new(
                fault.note("passed", format!("not critical: {times} messages went on without its verdict")),
            ),
        });
    }
}

/// Adds the guard's name to the fault of its failure.
fn named(fault: Fault, guard: &str) -> Fault {
    match Name::parse(guard) {
        Some(guard) => fault.fact("guard", guard),
        None => fault,
    }
}

/// The fault for the caller: the guard and the category, without the guard's own message.
fn denied(guard: &str, category: Name, message: String) -> Fault {
    let fault = Fault::new(&reason::POLICY_BLOCKED).retry_as(Retry::AfterChange);
    let fault = named(fault, guard).fact("category", category).fact("where", "/");
    if message.is_empty() { fault } else { fault.note("guard_said", message) }
}
