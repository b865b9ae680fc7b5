//! Metrics in the Prometheus text format, written by hand. Every label is a catalogue literal or a configured
//! name, so a registry would only add indirection.

use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use failwell_rpc::Caller;

/// Upper bounds of the duration buckets, in seconds.
const BOUNDS: [f64; 9] = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 10.0];

/// The metrics text, written family by family.
#[derive(Debug, Default)]
pub struct MetricsText {
    text: String,
    reader: Option<Caller>,
}

impl MetricsText {
    /// Starts a text for this caller. Servers that are hidden from the caller are left out.
    pub fn for_reader(reader: &Caller) -> MetricsText {
        MetricsText { reader: Some(reader.clone()), ..MetricsText::default() }
    }

    /// The caller who reads the text; `None` for the operator, who sees everything.
    pub fn reader(&self) -> Option<&Caller> {
        self.reader.as_ref()
    }

    /// Starts a family with this name, type such as `counter`, and description.
    pub fn family(&mut self, name: &str, sort: &str, help: &'static str) {
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {sort}");
    }

    /// Writes one sample of a family, with these labels.
    pub fn put(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.text.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{before}{label}=\"{text}\"");
        }
        let after = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.text, "{after} {value}");
    }

    /// Writes a family with one sample and no labels.
    pub fn single(&mut self, name: &str, sort: &str, help: &'static str, value: impl Display) {
        self.family(name, sort, help);
        self.put(name, &[], value);
    }

    /// Returns the complete text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// A histogram of durations.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BOUNDS.len()],
    slow: AtomicU64,
    micros: AtomicU64,
}

impl Histogram {
    /// Adds one duration.
    pub fn observe(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).and_then(|at| self.buckets.get(at));
        bucket.unwrap_or(&self.slow).fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Writes the sum of several histograms as samples of the current family.
    pub fn write(all: &[&Histogram], out: &mut MetricsText, name: &str, labels: &[(&str, &str)]) {
        let sum = |counter: fn(&Histogram) -> &AtomicU64| -> u64 {
            all.iter().map(|one| counter(one).load(Ordering::Relaxed)).sum()
        };
        let bucket = format!("{name}_bucket");
        let mut so_far = 0;
        for (index, bound) in BOUNDS.iter().enumerate() {
            let within = all.iter().filter_map(|one| one.buckets.get(index));
            so_far += within.map(|count| count.load(Ordering::Relaxed)).sum::<u64>();
            out.put(&bucket, &[labels, &[("le", &bound.to_string())]].concat(), so_far);
        }
        so_far += sum(|one| &one.slow);
        out.put(&bucket, &[labels, &[("le", "+Inf")]].concat(), so_far);
        out.put(&format!("{name}_sum"), labels, Duration::from_micros(sum(|one| &one.micros)).as_secs_f64());
        out.put(&format!("{name}_count"), labels, so_far);
    }
}

#[cfg(test)]
mod tests {
    use super::{Histogram, MetricsText};
    use std::time::Duration;

    #[test]
    fn numbers_are_written_as_prometheus_reads_them() {
        let mut out = MetricsText::default();
        out.single("up", "gauge", "Whether it is up.", 1);
        let took = Histogram::default();
        [1, 7, 70_000].into_iter().for_each(|millis| took.observe(Duration::from_millis(millis)));
        out.family("took", "histogram", "How long it took.");
        Histogram::write(&[&took], &mut out, "took", &[("of", "a")]);
        let text = out.into_text();
        assert!(
            text.starts_with("# HELP up Whether it is up.\n# TYPE up gauge\nup 1\n# HELP took How long"),
            "{text}"
        );
        for line in [
            "took_bucket{of=\"a\",le=\"0.0005\"} 0",
            "took_bucket{of=\"a\",le=\"0.001\"} 1",
            "took_bucket{of=\"a\",le=\"0.01\"} 2",
            "took_bucket{of=\"a\",le=\"10\"} 2",
            "took_bucket{of=\"a\",le=\"+Inf\"} 3",
            "took_sum{of=\"a\"} 70.008",
            "took_count{of=\"a\"} 3",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
