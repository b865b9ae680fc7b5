//! Content guards: the built-in ones decide at once, the custom ones may take time.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use arc_swap::ArcSwap;
use failwell_fault::{Fault, Name, Retry, reason};
use failwell_journal::{BodyKind, BodyRedactor, GuardNotice, Journal, Redactor, StoredBody};
use failwell_pipeline::{ContentGuards, GuardedBytes, MessageMeta, Verdict as Decision, VerdictLog};
use failwell_policy::Guards;
use failwell_policy::guard::{Action, GuardFinding, GuardSettings, Verdict};
use failwell_render::Moment;
use failwell_rpc::Direction;
use failwell_toolbox::PortFuture;

use crate::custom_guards::{CustomGuards, GuardedMessage};
use crate::scan_pool::ScanPool;
use crate::telemetry::metrics::GuardCounts;

/// The active guards. Clones share them, so that one swap changes all.
#[derive(Debug, Clone)]
pub struct GuardSet(Arc<ActiveGuards>);

#[derive(Debug)]
struct ActiveGuards {
    guards: ArcSwap<Guards>,
    custom_guards: ArcSwap<CustomGuards>,
    /// Shared by all pipelines of the program.
    scans: ScanPool,
}

impl GuardSet {
    pub fn new(guards: Guards) -> GuardSet {
        GuardSet::of(Arc::new(guards))
    }

    fn of(guards: Arc<Guards>) -> GuardSet {
        let (guards, custom_guards) = (ArcSwap::new(guards), ArcSwap::default());
        GuardSet(Arc::new(ActiveGuards { guards, custom_guards, scans: ScanPool::default() }))
    }

    /// The default guards: no secret leaves.
    pub fn standard() -> Result<GuardSet, Fault> {
        static STANDARD: OnceLock<Arc<Guards>> = OnceLock::new();
        let guards = match STANDARD.get() {
            Some(guards) => guards.clone(),
            None => {
                let compiled = Arc::new(Guards::compile(GuardSettings::default())?);
                STANDARD.get_or_init(|| compiled).clone()
            }
        };
        Ok(GuardSet::of(guards))
    }

    /// Replaces the guards. Inspections in progress continue with the old guards.
    pub fn set(&self, guards: Guards) {
        self.0.guards.store(Arc::new(guards));
    }

    /// Replaces the custom guards.
    pub fn set_custom_guards(&self, custom_guards: CustomGuards) {
        self.0.custom_guards.store(Arc::new(custom_guards));
    }

    pub(crate) fn custom_guards(&self) -> Arc<CustomGuards> {
        self.0.custom_guards.load_full()
    }

    fn guards(&self) -> arc_swap::Guard<Arc<Guards>> {
        self.0.guards.load()
    }

    /// Removes secrets from a text for the operator, regardless of the guard settings.
    pub fn scrub(&self, text: &str) -> String {
        self.guards().scrub(text).into_owned()
    }

    /// Removes secrets, and nothing else, from a text for an approver.
    pub(crate) fn scrub_secrets(&self, text: &str) -> String {
        self.guards().scrub_secrets(text).into_owned()
    }

    /// Returns `scrub` as a function, for other writers.
    pub fn redactor(&self) -> Redactor {
        let guard_set = self.clone();
        Arc::new(move |text| guard_set.scrub(text))
    }
}

impl GuardSet {
    /// Returns the redactor for recorded bodies. It always removes secrets, and all content that the guards
    /// would block.
    pub fn body_redactor(&self) -> BodyRedactor {
        let guard_set = self.clone();
        Arc::new(move |kept: &StoredBody<'_>| {
            let direction = match kept.sort {
                BodyKind::Request => Direction::Request,
                BodyKind::Result => Direction::Result,
                BodyKind::Error => Direction::Error,
            };
            guard_set.guards().redact_for_storage(direction, kept.server, kept.text).into_owned()
        })
    }
}

/// The guards of one pipeline, with their counters and the journal for their reports.
#[derive(Debug)]
pub(crate) struct GuardRunner {
    pub(crate) guard_set: GuardSet,
    pub(crate) journal: Journal,
    pub(crate) service: &'static str,
    counts: GuardCounts,
}

impl GuardRunner {
    pub(crate) fn new(guard_set: GuardSet, journal: Journal, service: &'static str) -> GuardRunner {
        GuardRunner { guard_set, journal, service, counts: GuardCounts::default() }
    }

    /// The counts of findings.
    pub(crate) fn counts(&self) -> &GuardCounts {
        &self.counts
    }
}

impl Inspection<'_> {
    /// Records the verdict of each guard that inspected the message.
    fn record(self, guards: &Guards, log: VerdictLog<'_>) {
        let now = Instant::now();
        let (after, took) = (now - log.began, now - self.since);
        for guard in guards.active_guards(self.direction, self.server) {
            let of_guard = || self.findings.iter().filter(|finding| finding.category.guard() == guard);
            let decided = of_guard().map(|finding| finding.action).max();
            log.notes.add_verdict(Decision {
                guard: guard.as_str().into(),
                looked_at: self.direction.looked_at(),
                decided: decided.map_or("pass", Action::as_str),
                found: of_guard().map(|f| format!("{} at {}", f.category.as_str(), f.place).into()).collect(),
                after,
                took,
            });
        }
    }
}

/// One inspection of a message by all guards.
struct Inspection<'a> {
    direction: Direction,
    server: &'a str,
    findings: &'a [GuardFinding],
    since: Instant,
}

fn findings(verdict: &Verdict) -> &[GuardFinding] {
    match verdict {
        Verdict::Pass => &[],
        Verdict::Noted { findings } | Verdict::Redacted { findings, .. } | Verdict::Blocked { findings } => {
            findings
        }
    }
}

impl GuardRunner {
    fn inspect(&self, direction: Direction, message: MessageMeta<'_>, json: &[u8], from: usize) -> Verdict {
        let guards = self.guard_set.guards();
        let since = message.verdicts.map(|_| Instant::now());
        let verdict = guards.inspect(direction, message.server, json, from);
        self.write_verdict(&guards, direction, message, &verdict, since);
        verdict
    }

    /// Inspects a large message on a thread that serves no connection.
    async fn inspect_on_pool(
        &self,
        direction: Direction,
        message: MessageMeta<'_>,
        bytes: Vec<u8>,
        from: usize,
    ) -> Result<GuardedBytes, Fault> {
        let guards = self.guard_set.0.guards.load_full();
        if !guards.applies(direction, message.server) {
            return Ok(GuardedBytes::Unchanged(bytes));
        }
        let since = message.verdicts.map(|_| Instant::now());
        let (inspector, server) = (guards.clone(), message.server.to_owned());
        let inspected = self.guard_set.0.scans.run(move || {
            let verdict = inspector.inspect(direction, &server, &bytes, from);
            (verdict, bytes)
        });
        let (verdict, bytes) = inspected.await?;
        self.write_verdict(&guards, direction, message, &verdict, since);
        Ok(match self.judge(verdict, message)? {
            Some(left) => GuardedBytes::Redacted(left),
            None => GuardedBytes::Unchanged(bytes),
        })
    }

    fn write_verdict(
        &self,
        guards: &Guards,
        direction: Direction,
        message: MessageMeta<'_>,
        verdict: &Verdict,
        since: Option<Instant>,
    ) {
        let log =
            message.verdicts.filter(|_| guards.active_guards(direction, message.server).next().is_some());
        if let Some((log, since)) = log.zip(since) {
            let inspection =
                Inspection { direction, server: message.server, findings: findings(verdict), since };
            inspection.record(guards, log);
        }
    }

    fn judge(&self, verdict: Verdict, message: MessageMeta<'_>) -> Result<Option<Vec<u8>>, Fault> {
        match verdict {
            Verdict::Pass => Ok(None),
            Verdict::Noted { findings } => {
                self.report(&findings, message);
                Ok(None)
            }
            Verdict::Redacted { bytes, findings } => {
                self.report(&findings, message);
                Ok(Some(bytes))
            }
            Verdict::Blocked { findings } => {
                self.report(&findings, message);
                Err(blocked(&findings))
            }
        }
    }

    fn report(&self, findings: &[GuardFinding], message: MessageMeta<'_>) {
        for finding in findings {
            let (guard, category) = (finding.category.guard().as_str(), finding.category.as_str());
            self.counts.note(finding.category, finding.action, finding.count);
            let sighting = GuardNotice {
                timestamp: &Moment::now().to_string(),
                service: self.service,
                server: if message.server.is_empty() { message.on.name() } else { message.server },
                connection: message.connection,
                to: message.to,
                guard,
                category,
                action: finding.action.as_str(),
                place: &finding.place,
                count: finding.count,
            };
            self.journal.note_guard(&sighting);
        }
    }
}

impl ContentGuards for GuardRunner {
    fn inspect(
        &self,
        direction: Direction,
        message: MessageMeta<'_>,
        bytes: &[u8],
        from: usize,
    ) -> Result<Option<Vec<u8>>, Fault> {
        self.judge(self.inspect(direction, message, bytes, from), message)
    }

    fn inspect_apart<'a>(
        &'a self,
        direction: Direction,
        message: MessageMeta<'a>,
        bytes: Vec<u8>,
        from: usize,
    ) -> PortFuture<'a, Result<GuardedBytes, Fault>> {
        Box::pin(self.inspect_on_pool(direction, message, bytes, from))
    }

    fn ask<'a>(
        &'a self,
        direction: Direction,
        meta: MessageMeta<'a>,
        bytes: &'a [u8],
        from: usize,
    ) -> PortFuture<'a, Result<Option<Vec<u8>>, Fault>> {
        Box::pin(self.ask_custom(GuardedMessage { direction, meta, from }, bytes))
    }

    fn asks_in(&self, direction: Direction) -> bool {
        self.guard_set.0.custom_guards.load().watch(direction)
    }

    fn has_custom(&self) -> bool {
        !self.guard_set.0.custom_guards.load().is_empty()
    }

    fn knows_servers(&self) -> bool {
        self.guard_set.guards().has_server_rules() || self.has_custom()
    }
}

/// The fault for the first blocking finding, by name and place.
fn blocked(findings: &[GuardFinding]) -> Fault {
    let fault = Fault::new(&reason::POLICY_BLOCKED).retry_as(Retry::AfterChange);
    let Some(first) = findings.first() else { return fault };
    let fault =
        fault.fact("guard", first.category.guard().as_str()).fact("category", first.category.as_str());
    match Name::parse(short(&first.place)) {
        Some(place) => fault.fact("where", place),
        None => fault.fact("where", "/"),
    }
}

/// Shortens a pointer to the length of a fact, at a whole segment.
fn short(place: &str) -> &str {
    let fits = |at: &usize| *at <= 128;
    match place.len() {
        ..=128 => place,
        _ => place
            .match_indices('/')
            .map(|(at, _)| at)
            .take_while(fits)
            .last()
            .and_then(|at| place.get(..at))
            .unwrap_or(""),
    }
}
