//! What is counted about requests, failures, guards, the books and what carries them elsewhere.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use failwell_audit::{CarrierHealth, LedgerHealth};
use failwell_fault::{Reason, reason};
use failwell_policy::guard::{Action, Category};

use crate::numbers::{Histogram, Numbers};

/// Counts everything that can be counted without a label of the caller's. Every request is counted by whichever
/// processor it runs on, so what can be worked out from other numbers is.
#[derive(Debug)]
pub(crate) struct Metrics {
    begun: AtomicU64,
    answered: AtomicU64,
    silent: AtomicU64,
    disregarded: AtomicU64,
    took: Histogram,
    faults: Vec<(&'static Reason, AtomicU64)>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            begun: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            silent: AtomicU64::new(0),
            disregarded: AtomicU64::new(0),
            took: Histogram::default(),
            faults: reason::all().map(|row| (row, AtomicU64::new(0))).collect(),
        }
    }
}

/// What is known besides, at the moment somebody asks.
pub(crate) struct Besides<'a> {
    pub(crate) journal_lost: u64,
    pub(crate) ledger: Option<&'a LedgerHealth>,
    pub(crate) limiter_buckets: usize,
    pub(crate) sightings: &'a Sightings,
    pub(crate) carried: &'a [CarrierHealth],
}

impl Metrics {
    /// A request came in.
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// A request is over.
    pub(crate) fn end(&self, took: Duration, answered: bool) {
        let counter = if answered { &self.answered } else { &self.silent };
        counter.fetch_add(1, Ordering::Relaxed);
        self.took.observe(took);
    }

    /// A notice of a client that nobody here knows what to do with.
    pub(crate) fn disregard(&self) {
        self.disregarded.fetch_add(1, Ordering::Relaxed);
    }

    /// Something went wrong.
    pub(crate) fn fault(&self, row: &'static Reason) {
        if let Some((_, count)) = self.faults.iter().find(|(known, _)| std::ptr::eq(*known, row)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes the numbers. Reasons that never happened are there with 0, so that alerts can be written before the
    /// first one does.
    pub(crate) fn write(&self, out: &mut Numbers, besides: &Besides<'_>) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // What began is read last: more cannot be over than began.
        let (answered, silent) = (read(&self.answered), read(&self.silent));
        let in_flight = read(&self.begun).saturating_sub(answered + silent);
        out.family("failwell_requests_total", "counter");
        out.put("failwell_requests_total", &[("answered", "yes")], answered);
        out.put("failwell_requests_total", &[("answered", "no")], silent);
        out.single("failwell_requests_in_flight", "gauge", in_flight);
        out.single("failwell_notices_dropped_total", "counter", read(&self.disregarded));
        out.family("failwell_request_duration_seconds", "histogram");
        Histogram::write(&[&self.took], out, "failwell_request_duration_seconds", &[]);
        out.family("failwell_faults_total", "counter");
        for (row, count) in &self.faults {
            let labels = [("reason", row.id), ("kind", row.kind.as_str())];
            out.put("failwell_faults_total", &labels, read(count));
        }
        besides.sightings.write(out);
        out.single("failwell_journal_lost_total", "counter", besides.journal_lost);
        if let Some(health) = besides.ledger {
            write_ledger(out, health);
        }
        write_carried(out, besides.carried);
        out.single("failwell_limiter_buckets", "gauge", besides.limiter_buckets);
    }
}

/// What content guards found, by category and action.
#[derive(Debug)]
pub(crate) struct Sightings(Vec<(Category, Action, AtomicU64)>);

impl Default for Sightings {
    fn default() -> Self {
        let actions = [Action::AuditOnly, Action::Redact, Action::Block];
        let all =
            Category::all().flat_map(|category| actions.map(|action| (category, action, AtomicU64::new(0))));
        Sightings(all.collect())
    }
}

impl Sightings {
    pub(crate) fn note(&self, category: Category, action: Action, count: usize) {
        let found = self.0.iter().find(|(known, done, _)| *known == category && *done == action);
        if let Some((_, _, counter)) = found {
            counter.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// Only those that were seen: there are many, and few guards are set to all actions.
    fn write(&self, out: &mut Numbers) {
        out.family("failwell_guard_findings_total", "counter");
        for (category, action, counter) in &self.0 {
            let count = counter.load(Ordering::Relaxed);
            if count > 0 {
                let labels = [
                    ("guard", category.guard().as_str()),
                    ("category", category.as_str()),
                    ("action", action.as_str()),
                ];
                out.put("failwell_guard_findings_total", &labels, count);
            }
        }
    }
}

fn write_ledger(out: &mut Numbers, health: &LedgerHealth) {
    out.single("failwell_ledger_up", "gauge", u8::from(health.works));
    out.single("failwell_ledger_records_total", "counter", health.written);
    out.single("failwell_ledger_lost_total", "counter", health.lost);
    out.single("failwell_ledger_waiting", "gauge", health.waiting);
    out.single("failwell_ledger_lag_seconds", "gauge", health.lag.as_secs_f64());
    out.single("failwell_ledger_sink_failures_total", "counter", health.sink_failures);
}

type Carried = (&'static str, &'static str, fn(&CarrierHealth) -> f64);

/// What is carried elsewhere, by where to.
fn write_carried(out: &mut Numbers, carried: &[CarrierHealth]) {
    const NUMBERS: [Carried; 6] = [
        ("failwell_export_up", "gauge", |health| f64::from(u8::from(health.works))),
        ("failwell_export_sent_total", "counter", |health| health.sent as f64),
        ("failwell_export_dropped_total", "counter", |health| health.dropped as f64),
        ("failwell_export_failures_total", "counter", |health| health.failures as f64),
        ("failwell_export_waiting", "gauge", |health| health.waiting as f64),
        ("failwell_export_lag_seconds", "gauge", |health| health.lag.as_secs_f64()),
    ];
    for (name, sort, read) in NUMBERS.iter().filter(|_| !carried.is_empty()) {
        out.family(name, sort);
        carried.iter().for_each(|health| out.put(name, &[("to", health.to)], read(health)));
    }
}
