use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use failwell_fault::{Kind, Reason, ReasonRegistry};

use failwell_toolbox::{Histogram, MetricsText};

use crate::tool_calls::ToolCalls;

/// Counters without labels that a caller controls. All processors write these counters, so a number that
/// follows from other numbers is computed, not counted.
#[derive(Debug)]
pub(crate) struct Metrics {
    begun: AtomicU64,
    answered: AtomicU64,
    silent: AtomicU64,
    disregarded: AtomicU64,
    took: Histogram,
    tool_calls: ToolCalls,
    faults: Vec<(&'static Reason, AtomicU64)>,
    unregistered_faults: Vec<(Kind, AtomicU64)>,
}

/// The label of all unregistered reasons. One shared label keeps the number of labels bounded.
const UNREGISTERED: &str = "unregistered";

impl Metrics {
    pub(crate) fn new(reasons: &ReasonRegistry) -> Metrics {
        Metrics {
            begun: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            silent: AtomicU64::new(0),
            disregarded: AtomicU64::new(0),
            took: Histogram::default(),
            tool_calls: ToolCalls::default(),
            faults: reasons.iter().map(|row| (row, AtomicU64::new(0))).collect(),
            unregistered_faults: Kind::ALL.map(|kind| (kind, AtomicU64::new(0))).into(),
        }
    }

    /// Counts a request that begins.
    pub(crate) fn begin(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request that ends.
    pub(crate) fn end(&self, took: Duration, answered: bool) {
        let counter = if answered { &self.answered } else { &self.silent };
        counter.fetch_add(1, Ordering::Relaxed);
        self.took.observe(took);
    }

    /// The calls of tools.
    pub(crate) fn tool_calls(&self) -> &ToolCalls {
        &self.tool_calls
    }

    /// Counts a client notification with an unknown method.
    pub(crate) fn disregard(&self) {
        self.disregarded.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a failure by its reason.
    pub(crate) fn fault(&self, row: &'static Reason) {
        let registered =
            self.faults.iter().find(|(known, _)| std::ptr::eq(*known, row)).map(|(_, count)| count);
        let of_its_kind = || self.unregistered_faults.iter().find(|(kind, _)| *kind == row.kind);
        if let Some(count) = registered.or_else(|| of_its_kind().map(|(_, count)| count)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Writes the metrics. A reason without failures is written as 0, so that alerts can be defined in
    /// advance.
    pub(crate) fn write(&self, out: &mut MetricsText, journal_lost: u64) {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        // `begun` is read last, so that the number of finished requests never exceeds it.
        let (answered, silent) = (read(&self.answered), read(&self.silent));
        let in_flight = read(&self.begun).saturating_sub(answered + silent);
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        out.family("failwell_build_info", "gauge", "The version of the running program; always 1.");
        out.put("failwell_build_info", &version, 1);
        out.family("failwell_requests_total", "counter", "Requests, by whether they got a response.");
        out.put("failwell_requests_total", &[("answered", "yes")], answered);
        out.put("failwell_requests_total", &[("answered", "no")], silent);
        out.single("failwell_requests_in_flight", "gauge", "Requests without a response so far.", in_flight);
        out.single(
            "failwell_notices_dropped_total",
            "counter",
            "Notifications of clients with an unknown method.",
            read(&self.disregarded),
        );
        out.family("failwell_request_duration_seconds", "histogram", "Duration of requests.");
        Histogram::write(&[&self.took], out, "failwell_request_duration_seconds", &[]);
        out.family("failwell_faults_total", "counter", "Failures, by reason and kind.");
        for (row, count) in &self.faults {
            let labels = [("reason", row.id), ("kind", row.kind.as_str())];
            out.put("failwell_faults_total", &labels, read(count));
        }
        for (kind, count) in self.unregistered_faults.iter().filter(|(_, count)| read(count) > 0) {
            let labels = [("reason", UNREGISTERED), ("kind", kind.as_str())];
            out.put("failwell_faults_total", &labels, read(count));
        }
        out.single(
            "failwell_journal_lost_total",
            "counter",
            "Log lines that did not fit into the queue.",
            journal_lost,
        );
    }
}

#[cfg(test)]
mod tests {
    use failwell_fault::ReasonRegistry;

    use super::Metrics;
    use failwell_toolbox::MetricsText;

    mod bakery {
        failwell_fault::reasons! {
            OVEN_COLD = "bakery/OVEN_COLD" {
                Precondition, ToolFailed, Server,
                title: "the oven is cold",
                hint: "call preheat first, then bake again",
                about: "Bread is baked at 220 degrees or more.",
            }
        }
    }

    fn written(metrics: &Metrics) -> String {
        let mut out = MetricsText::default();
        metrics.write(&mut out, 0);
        out.into_text()
    }

    #[test]
    fn a_strangers_reason_is_counted_like_ours() {
        let reasons = ReasonRegistry::core().with(bakery::REASONS).expect("a new id");
        let metrics = Metrics::new(&reasons);
        let line = |count: u8| {
            format!("failwell_faults_total{{reason=\"bakery/OVEN_COLD\",kind=\"precondition\"}} {count}\n")
        };
        assert!(written(&metrics).contains(&line(0)));
        metrics.fault(&bakery::OVEN_COLD);
        assert!(written(&metrics).contains(&line(1)));
        assert!(!written(&metrics).contains("unregistered"));
    }

    #[test]
    fn unregistered_reasons_share_one_label() {
        let metrics = Metrics::new(&ReasonRegistry::core());
        metrics.fault(&bakery::OVEN_COLD);
        let text = written(&metrics);
        let line = "failwell_faults_total{reason=\"unregistered\",kind=\"precondition\"} 1\n";
        assert!(text.contains(line) && !text.contains("bakery"), "{text}");
    }
}
