//! Numbers for operators, in Prometheus' text format. Written by hand: every label is a literal of the
//! catalogue, so a registry would only add indirection.

use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use failwell_audit::{CarrierHealth, LedgerHealth};
use failwell_fault::{Reason, reason};
use failwell_policy::guard::{Action, Category};

/// Upper bounds of the duration buckets, in seconds.
const BOUNDS: [f64; 9] = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0];

/// Counts everything that can be counted without a label of the caller's.
#[derive(Debug)]
pub(crate) struct Metrics {
    answered: AtomicU64,
    silent: AtomicU64,
    in_flight: AtomicI64,
    buckets: [AtomicU64; BOUNDS.len()],
    slow: AtomicU64,
    micros: AtomicU64,
    faults: Vec<(&'static Reason, AtomicU64)>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics {
            answered: AtomicU64::new(0),
            silent: AtomicU64::new(0),
            in_flight: AtomicI64::new(0),
            buckets: Default::default(),
            slow: AtomicU64::new(0),
            micros: AtomicU64::new(0),
            faults: reason::all().map(|row| (row, AtomicU64::new(0))).collect(),
        }
    }
}

impl Metrics {
    /// A request came in.
    pub(crate) fn begin(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    /// A request is over.
    pub(crate) fn end(&self, took: Duration, answered: bool) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        let counter = if answered { &self.answered } else { &self.silent };
        counter.fetch_add(1, Ordering::Relaxed);
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).and_then(|at| self.buckets.get(at));
        bucket.unwrap_or(&self.slow).fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Something went wrong.
    pub(crate) fn fault(&self, row: &'static Reason) {
        if let Some((_, count)) = self.faults.iter().find(|(known, _)| std::ptr::eq(*known, row)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The numbers as Prometheus reads them. Reasons that never happened are there with 0, so that alerts can
    /// be written before the first one does.
    pub(crate) fn text(
        &self,
        journal_lost: u64,
        ledger: Option<&LedgerHealth>,
        limiter_buckets: usize,
        sightings: &Sightings,
        carried: &[CarrierHealth],
    ) -> String {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let mut out = String::with_capacity(8 * 1024);
        let _ = writeln!(out, "# TYPE failwell_requests_total counter");
        let _ = writeln!(out, "failwell_requests_total{{answered=\"yes\"}} {}", read(&self.answered));
        let _ = writeln!(out, "failwell_requests_total{{answered=\"no\"}} {}", read(&self.silent));
        let _ = writeln!(out, "# TYPE failwell_requests_in_flight gauge");
        let _ = writeln!(out, "failwell_requests_in_flight {}", self.in_flight.load(Ordering::Relaxed));
        let _ = writeln!(out, "# TYPE failwell_request_duration_seconds histogram");
        let mut so_far = 0;
        for (bound, bucket) in BOUNDS.iter().zip(&self.buckets) {
            so_far += read(bucket);
            let _ = writeln!(out, "failwell_request_duration_seconds_bucket{{le=\"{bound}\"}} {so_far}");
        }
        so_far += read(&self.slow);
        let _ = writeln!(out, "failwell_request_duration_seconds_bucket{{le=\"+Inf\"}} {so_far}");
        let sum = Duration::from_micros(read(&self.micros)).as_secs_f64();
        let _ = writeln!(out, "failwell_request_duration_seconds_sum {sum}");
        let _ = writeln!(out, "failwell_request_duration_seconds_count {so_far}");
        let _ = writeln!(out, "# TYPE failwell_faults_total counter");
        for (row, count) in &self.faults {
            let kind = row.kind.as_str();
            let _ = writeln!(
                out,
                "failwell_faults_total{{reason=\"{}\",kind=\"{kind}\"}} {}",
                row.id,
                read(count)
            );
        }
        sightings.write(&mut out);
        let _ = writeln!(out, "# TYPE failwell_journal_lost_total counter");
        let _ = writeln!(out, "failwell_journal_lost_total {journal_lost}");
        if let Some(health) = ledger {
            write_ledger(&mut out, health);
        }
        write_carried(&mut out, carried);
        let _ = writeln!(out, "# TYPE failwell_limiter_buckets gauge");
        let _ = writeln!(out, "failwell_limiter_buckets {limiter_buckets}");
        out
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
    fn write(&self, out: &mut String) {
        let _ = writeln!(out, "# TYPE failwell_guard_findings_total counter");
        for (category, action, counter) in &self.0 {
            let count = counter.load(Ordering::Relaxed);
            if count > 0 {
                let (guard, name, action) = (category.guard().as_str(), category.as_str(), action.as_str());
                let _ = writeln!(
                    out,
                    "failwell_guard_findings_total{{guard=\"{guard}\",category=\"{name}\",action=\"{action}\"}} {count}"
                );
            }
        }
    }
}

fn write_ledger(out: &mut String, health: &LedgerHealth) {
    let lag = health.lag.as_secs_f64();
    for (name, sort, value) in [
        ("failwell_ledger_up", "gauge", f64::from(u8::from(health.works))),
        ("failwell_ledger_records_total", "counter", health.written as f64),
        ("failwell_ledger_lost_total", "counter", health.lost as f64),
        ("failwell_ledger_waiting", "gauge", health.waiting as f64),
        ("failwell_ledger_lag_seconds", "gauge", lag),
        ("failwell_ledger_sink_failures_total", "counter", health.sink_failures as f64),
    ] {
        let _ = writeln!(out, "# TYPE {name} {sort}\n{name} {value}");
    }
}

type Carried = (&'static str, &'static str, fn(&CarrierHealth) -> f64);

/// What is carried elsewhere, by where to.
fn write_carried(out: &mut String, carried: &[CarrierHealth]) {
    const NUMBERS: [Carried; 6] = [
        ("failwell_export_up", "gauge", |health| f64::from(u8::from(health.works))),
        ("failwell_export_sent_total", "counter", |health| health.sent as f64),
        ("failwell_export_dropped_total", "counter", |health| health.dropped as f64),
        ("failwell_export_failures_total", "counter", |health| health.failures as f64),
        ("failwell_export_waiting", "gauge", |health| health.waiting as f64),
        ("failwell_export_lag_seconds", "gauge", |health| health.lag.as_secs_f64()),
    ];
    for (name, sort, read) in NUMBERS.iter().filter(|_| !carried.is_empty()) {
        let _ = writeln!(out, "# TYPE {name} {sort}");
        for health in carried {
            let _ = writeln!(out, "{name}{{to=\"{}\"}} {}", health.to, read(health));
        }
    }
}
