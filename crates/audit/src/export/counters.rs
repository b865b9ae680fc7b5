use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use failwell_fault::Fault;

use super::ExporterHealth;
use failwell_journal::Journal;

/// The counters of one kind of exported data.
#[derive(Debug)]
pub struct ExportCounters {
    /// The metric label; see `ExporterHealth::to`.
    pub to: &'static str,
    journal: Journal,
    fails: AtomicBool,
    sent: AtomicU64,
    dropped: AtomicU64,
    failures: AtomicU64,
    waiting: AtomicU64,
    lag_us: AtomicU64,
}

impl ExportCounters {
    pub fn new(to: &'static str, journal: Journal) -> ExportCounters {
        let zero = AtomicU64::default;
        ExportCounters {
            to,
            journal,
            fails: AtomicBool::new(false),
            sent: zero(),
            dropped: zero(),
            failures: zero(),
            waiting: zero(),
            lag_us: zero(),
        }
    }

    /// Counts items that arrived, and the age of the oldest.
    pub fn record_sent(&self, count: usize, lag: Duration) {
        self.sent.fetch_add(count as u64, Ordering::Relaxed);
        self.lag_us.store(u64::try_from(lag.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if self.fails.swap(false, Ordering::Relaxed) {
            self.journal.note_event("the export works again", self.to);
        }
    }

    /// Counts a failed attempt. Only the first failure in a row is logged.
    pub fn record_failure(&self, why: &Fault) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        if !self.fails.swap(true, Ordering::Relaxed) {
            self.journal.note_trouble("the export does not work; it is retried", self.to, why);
        }
    }

    /// Counts items that are lost.
    pub fn record_dropped(&self, count: u64, why: &Fault) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
        self.journal.note_trouble("some data was not exported and is lost", self.to, why);
    }

    pub fn set_waiting(&self, count: u64) {
        self.waiting.store(count, Ordering::Relaxed);
    }

    pub fn health(&self) -> ExporterHealth {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        ExporterHealth {
            to: self.to,
            works: !self.fails.load(Ordering::Relaxed),
            sent: read(&self.sent),
            dropped: read(&self.dropped),
            failures: read(&self.failures),
            waiting: read(&self.waiting),
            lag: Duration::from_micros(read(&self.lag_us)),
        }
    }
}
