use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use failwell_fault::Fault;

use super::CarrierHealth;
use crate::journal::Journal;

/// What is counted about one sort of thing that is carried.
#[derive(Debug)]
pub struct Tally {
    /// What is carried where.
    pub to: &'static str,
    journal: Journal,
    fails: AtomicBool,
    sent: AtomicU64,
    dropped: AtomicU64,
    failures: AtomicU64,
    waiting: AtomicU64,
    lag_us: AtomicU64,
}

impl Tally {
    /// Nothing yet.
    pub fn new(to: &'static str, journal: Journal) -> Tally {
        let zero = AtomicU64::default;
        Tally {
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

    /// These arrived, so long after they were made.
    pub fn arrived(&self, count: usize, lag: Duration) {
        self.sent.fetch_add(count as u64, Ordering::Relaxed);
        self.lag_us.store(u64::try_from(lag.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if self.fails.swap(false, Ordering::Relaxed) {
            self.journal.carrier_works(self.to);
        }
    }

    /// An attempt failed. Told once, until one works again.
    pub fn failed(&self, why: &Fault) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        if !self.fails.swap(true, Ordering::Relaxed) {
            self.journal.carrier_fails(self.to, why);
        }
    }

    /// These never arrive.
    pub fn dropped(&self, count: u64, why: &Fault) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
        self.journal.carrier_drops(self.to, why);
    }

    /// So many wait.
    pub fn waits(&self, count: u64) {
        self.waiting.store(count, Ordering::Relaxed);
    }

    /// All of it.
    pub fn health(&self) -> CarrierHealth {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        CarrierHealth {
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
