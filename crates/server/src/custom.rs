//! Custom guards on the walk: who is asked about a message, and what follows from the verdict, or from there being none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use failwell_audit::{Entry, Sighting, Verdict as Decision};
use failwell_fault::{Fault, Name, reason};
use failwell_policy::guard::custom::{About, CustomRule, Judge, Opinion, Question, Subject, take_out};
use failwell_policy::guard::{Action, Direction};
use failwell_render::Moment;
use failwell_rpc::{Face, ReplyTo, Revision};

use crate::guarding::{Porter, Whose};
use crate::numbers::Numbers;

/// How often a guard that fails and may is told of.
const TELL: Duration = Duration::from_secs(1);

/// Every custom guard, in the order they are asked.
#[derive(Debug, Clone, Default)]
pub struct Customs(Arc<[Custom]>);

/// One custom guard.
#[derive(Debug, Clone)]
pub struct Custom {
    rule: CustomRule,
    judge: Arc<dyn Judge>,
    tally: Arc<Tally>,
}

impl Custom {
    /// A guard with this rule, for which this one answers.
    pub fn new(rule: CustomRule, judge: Arc<dyn Judge>) -> Custom {
        Custom { rule, judge, tally: Arc::default() }
    }

    /// The rule.
    pub fn rule(&self) -> &CustomRule {
        &self.rule
    }

    /// The same guard under another rule: who answers stays, and so do the counts.
    #[must_use]
    pub fn ruled(&self, rule: CustomRule) -> Custom {
        Custom { rule, judge: self.judge.clone(), tally: self.tally.clone() }
    }
}

impl FromIterator<Custom> for Customs {
    fn from_iter<I: IntoIterator<Item = Custom>>(all: I) -> Customs {
        let mut all: Vec<Custom> = all.into_iter().collect();
        // Of those that have the same, the one that stands first in the file.
        all.sort_by_key(|custom| custom.rule.priority);
        Customs(all.into())
    }
}

impl Customs {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn watch(&self, direction: Direction) -> bool {
        self.0.iter().any(|custom| custom.rule.directions.contains(&direction))
    }

    /// What each of them said so far.
    pub(crate) fn write_numbers(&self, out: &mut Numbers) {
        const VERDICTS: &str = "failwell_custom_guard_verdicts_total";
        const SECONDS: &str = "failwell_custom_guard_seconds_total";
        if self.is_empty() {
            return;
        }
        out.family(VERDICTS, "counter");
        for custom in self.0.iter() {
            for (verdict, count) in custom.tally.counts() {
                out.put(VERDICTS, &[("guard", &custom.rule.name), ("verdict", verdict)], count);
            }
        }
        out.family(SECONDS, "counter");
        for custom in self.0.iter() {
            let seconds = Duration::from_micros(custom.tally.micros.load(Ordering::Relaxed)).as_secs_f64();
            out.put(SECONDS, &[("guard", &custom.rule.name)], seconds);
        }
    }
}

/// What a guard has said so far.
#[derive(Debug, Default)]
struct Tally {
    allowed: AtomicU64,
    redacted: AtomicU64,
    denied: AtomicU64,
    failed: AtomicU64,
    micros: AtomicU64,
    /// When a failure was last told of, in milliseconds since 1970, and how many came since.
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

    fn note(&self, said: &Result<Opinion, Fault>, took: Duration) {
        let counter = match said {
            Ok(Opinion::Allow) => &self.allowed,
            Ok(Opinion::Redact { .. }) => &self.redacted,
            Ok(Opinion::Deny { .. }) => &self.denied,
            Err(_) => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// How many failures there are to tell of, if it is time to.
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

/// One message on its way past the custom guards.
#[derive(Clone, Copy)]
pub(crate) struct Passing<'a> {
    pub(crate) direction: Direction,
    pub(crate) whose: Whose<'a>,
    /// Before this byte it belongs to the protocol.
    pub(crate) from: usize,
}

impl Porter {
    /// What custom guards leave of a message; `None`: it may go on as it is.
    pub(crate) async fn ask(&self, passing: Passing<'_>, message: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
        let customs = self.gate.customs();
        let about = About { server: passing.whose.on, tool: passing.whose.tool };
        let mut changed: Option<Vec<u8>> = None;
        for custom in customs.0.iter().filter(|custom| custom.rule.looks(passing.direction, &about)) {
            let before = changed.as_deref().unwrap_or(message);
            if let Some(after) = self.ask_one(custom, passing, before).await? {
                changed = Some(after);
            }
        }
        Ok(changed)
    }

    async fn ask_one(
        &self,
        custom: &Custom,
        passing: Passing<'_>,
        message: &[u8],
    ) -> Result<Option<Vec<u8>>, Fault> {
        let since = Instant::now();
        let said = match self.opinion(custom, passing, message, since).await {
            Ok(Opinion::Redact { category, wish }) => {
                let label = format!("[redacted: {}/{}]", custom.rule.name, category.as_str());
                let taken = take_out(message, passing.from, &label, &wish);
                taken.map(|taken| (Opinion::Redact { category, wish }, Some(taken)))
            }
            Ok(opinion) => Ok((opinion, None)),
            Err(fault) => Err(fault),
        };
        let (said, taken) = match said {
            Ok((opinion, taken)) => (Ok(opinion), taken),
            Err(fault) => (Err(named(fault, &custom.rule.name)), None),
        };
        custom.tally.note(&said, since.elapsed());
        self.write_down(custom, passing, &said, since);
        match said {
            Ok(Opinion::Allow) => Ok(None),
            Ok(Opinion::Redact { category, .. }) => {
                let count = taken.as_ref().map_or(0, |(_, count)| *count);
                self.sight(custom, passing.whose, (&category, Action::Redact), count);
                Ok(taken.map(|(bytes, _)| bytes))
            }
            Ok(Opinion::Deny { category, message }) => {
                self.sight(custom, passing.whose, (&category, Action::Block), 1);
                Err(denied(&custom.rule.name, category, message))
            }
            Err(fault) if custom.rule.critical => Err(fault),
            Err(fault) => {
                self.pass_over(custom, passing.whose, fault);
                Ok(None)
            }
        }
    }

    async fn opinion(
        &self,
        custom: &Custom,
        passing: Passing<'_>,
        message: &[u8],
        since: Instant,
    ) -> Result<Opinion, Fault> {
        let whose = passing.whose;
        let deadline = since + custom.rule.timeout;
        let question = Question {
            guard: &custom.rule.name,
            direction: passing.direction,
            server: whose.on.name(),
            tool: whose.tool.name(),
            method: whose.method,
            caller: whose.caller,
            message: std::str::from_utf8(message).unwrap_or("null"),
            deadline,
        };
        let late = |_| Err(Fault::new(&reason::POLICY_GUARD_FAILED).fact("why", "it did not answer in time"));
        tokio::time::timeout_at(deadline.into(), custom.judge.judge(question)).await.unwrap_or_else(late)
    }

    /// What it decided, for the record of the exchange.
    fn write_down(
        &self,
        custom: &Custom,
        passing: Passing<'_>,
        said: &Result<Opinion, Fault>,
        since: Instant,
    ) {
        let Some(watched) = passing.whose.watched else { return };
        let (decided, found) = match said {
            Ok(Opinion::Allow) => ("pass", Vec::new()),
            Ok(Opinion::Redact { category, .. }) => ("redact", vec![category.as_str().to_owned().into()]),
            Ok(Opinion::Deny { category, .. }) => ("block", vec![category.as_str().to_owned().into()]),
            Err(fault) => {
                let why = fault.get("why").map_or_else(String::new, ToString::to_string);
                ("failed", vec![why.into()])
            }
        };
        watched.trail.decide(Decision {
            guard: custom.rule.name.clone().into(),
            looked_at: passing.direction.looked_at(),
            decided,
            found,
            after: watched.began.elapsed(),
            took: since.elapsed(),
        });
    }

    fn sight(&self, custom: &Custom, whose: Whose<'_>, (category, action): (&Name, Action), count: usize) {
        self.journal.sighting(&Sighting {
            timestamp: &Moment::now().to_string(),
            service: self.service,
            server: whose.on.name(),
            connection: whose.connection,
            to: whose.to,
            guard: &custom.rule.name,
            category: category.as_str(),
            action: action.as_str(),
            place: "/",
            count,
        });
    }

    /// A guard that may fail has failed: the operator is told, now and then.
    fn pass_over(&self, custom: &Custom, whose: Whose<'_>, fault: Fault) {
        let at = SystemTime::now();
        let Some(times) = custom.tally.to_tell(at) else { return };
        let nobody = || ReplyTo::misread(None, Face::Mcp(Revision::LATEST));
        self.journal.fault(Entry {
            at,
            service: self.service,
            connection: whose.connection.to_owned().into(),
            method: Some("guard".into()),
            target: None,
            to: whose.to.cloned().unwrap_or_else(nobody),
            trace: None,
            fault: Arc::new(
                fault.note("passed", format!("not critical: {times} messages went on without its verdict")),
            ),
        });
    }
}

/// The fault of a failure, with the guard's name in it.
fn named(fault: Fault, guard: &str) -> Fault {
    match Name::parse(guard) {
        Some(guard) => fault.fact("guard", guard),
        None => fault,
    }
}

/// What the caller learns: who and what sort, and no word of what was said beside.
fn denied(guard: &str, category: Name, message: String) -> Fault {
    let fault =
        named(Fault::new(&reason::POLICY_BLOCKED), guard).fact("category", category).fact("where", "/");
    if message.is_empty() { fault } else { fault.note("guard_said", message) }
}

impl Whose<'_> {
    /// Whose a message is that nobody asked for.
    pub(crate) fn unasked(server: &str) -> Whose<'_> {
        let on = if server.is_empty() { Subject::Unknown } else { Subject::Named(server) };
        Whose { server, on, tool: Subject::Unknown, ..Whose::default() }
    }
}
