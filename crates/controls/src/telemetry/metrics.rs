//! Counters of guards, the ledger and exporters.

use std::sync::atomic::{AtomicU64, Ordering};

use failwell_audit::{ExporterHealth, LedgerHealth};
use failwell_policy::guard::{Action, Category};
use failwell_toolbox::MetricsText;

/// The findings of content guards, by category and action.
#[derive(Debug)]
pub(crate) struct GuardCounts(Vec<(Category, Action, AtomicU64)>);

impl Default for GuardCounts {
    fn default() -> Self {
        let actions = [Action::AuditOnly, Action::Redact, Action::Block];
        let all =
            Category::all().flat_map(|category| actions.map(|action| (category, action, AtomicU64::new(0))));
        GuardCounts(all.collect())
    }
}

impl GuardCounts {
    pub(crate) fn note(&self, category: Category, action: Action, count: usize) {
        let found = self.0.iter().find(|(known, done, _)| *known == category && *done == action);
        if let Some((_, _, counter)) = found {
            counter.fetch_add(u64::try_from(count).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    /// Writes only nonzero counts: there are many combinations, and few are in use.
    pub(crate) fn write(&self, out: &mut MetricsText) {
        out.family("failwell_guard_findings_total", "counter", "Findings of content guards.");
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

pub(crate) fn write_ledger(out: &mut MetricsText, health: &LedgerHealth) {
    let (lag, up) = (health.lag.as_secs_f64(), u8::from(health.works));
    out.single("failwell_ledger_up", "gauge", "Whether the ledger can be written.", up);
    out.single("failwell_ledger_records_total", "counter", "Records that were written.", health.written);
    out.single("failwell_ledger_lost_total", "counter", "Records that were lost.", health.lost);
    out.single("failwell_ledger_waiting", "gauge", "Records that wait to be written.", health.waiting);
    out.single("failwell_ledger_lag_seconds", "gauge", "Age of the oldest waiting record.", lag);
    let failures = health.sink_failures;
    out.single("failwell_ledger_sink_failures_total", "counter", "Failed writes of copies.", failures);
}

type ExporterMetrics = (&'static str, &'static str, &'static str, fn(&ExporterHealth) -> f64);

/// Writes the health of each exporter, by destination.
pub(crate) fn write_exporters(out: &mut MetricsText, carried: &[ExporterHealth]) {
    const NUMBERS: [ExporterMetrics; 6] = [
        ("failwell_export_up", "gauge", "Whether the last export worked.", |health| {
            f64::from(u8::from(health.works))
        }),
        ("failwell_export_sent_total", "counter", "Exported records.", |health| health.sent as f64),
        ("failwell_export_dropped_total", "counter", "Records that were not exported.", |health| {
            health.dropped as f64
        }),
        ("failwell_export_failures_total", "counter", "Failed attempts to export.", |health| {
            health.failures as f64
        }),
        ("failwell_export_waiting", "gauge", "Records that wait to be exported.", |health| {
            health.waiting as f64
        }),
        ("failwell_export_lag_seconds", "gauge", "Age of the oldest record that waits.", |health| {
            health.lag.as_secs_f64()
        }),
    ];
    for (name, sort, help, read) in NUMBERS.iter().filter(|_| !carried.is_empty()) {
        out.family(name, sort, help);
        carried.iter().for_each(|health| out.put(name, &[("to", health.to)], read(health)));
    }
}
