//! What is counted about one upstream.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, Reason, reason};
use failwell_server::Histogram;

/// How much of the first stray line is kept for the operator.
const KEPT: usize = 256;
/// How often the same trouble of a list is written down.
const REPORT: Duration = Duration::from_secs(60);

/// Counted over all connections.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    starts: AtomicU64,
    ends: AtomicU64,
    strays: AtomicU64,
    failures: AtomicU64,
    took: Histogram,
    reported: Mutex<Option<(Instant, &'static Reason)>>,
}

/// Lines of one connection that were no messages.
#[derive(Debug)]
pub(crate) struct Strays {
    all: Arc<Tally>,
    count: AtomicU64,
    first: Mutex<Option<Vec<u8>>>,
}

impl Tally {
    /// A connection is being made.
    pub(crate) fn start(&self) {
        self.starts.fetch_add(1, Ordering::Relaxed);
    }

    /// How often one was.
    pub(crate) fn starts(&self) -> u64 {
        self.starts.load(Ordering::Relaxed)
    }

    /// A request is over.
    pub(crate) fn answered(&self, took: Duration, answer: Result<(), &Fault>) {
        self.took.observe(took);
        if answer.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How long requests took.
    pub(crate) fn took(&self) -> &Histogram {
        &self.took
    }

    /// How many requests failed, whatever the reason.
    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// A process of it, or a connection to it, is at its end.
    pub(crate) fn end(&self) {
        self.ends.fetch_add(1, Ordering::Relaxed);
    }

    /// How many were.
    pub(crate) fn ends(&self) -> u64 {
        self.ends.load(Ordering::Relaxed)
    }

    /// How many lines were no messages.
    pub(crate) fn strays(&self) -> u64 {
        self.strays.load(Ordering::Relaxed)
    }

    /// Whether trouble is worth a line in the log: when it is new, and now and then while it lasts. That it rests is
    /// no trouble of its own.
    pub(crate) fn is_worth_reporting(&self, fault: &Fault) -> bool {
        if *fault.reason() == reason::GATEWAY_CIRCUIT_OPEN {
            return false;
        }
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let worth =
            reported.is_none_or(|(when, known)| when.elapsed() >= REPORT || *known != *fault.reason());
        if worth {
            *reported = Some((Instant::now(), fault.reason()));
        }
        worth
    }
}

impl Strays {
    pub(crate) fn of(all: Arc<Tally>) -> Strays {
        Strays { all, count: AtomicU64::new(0), first: Mutex::default() }
    }

    /// What is counted over all connections.
    pub(crate) fn all(&self) -> &Tally {
        &self.all
    }

    /// One more.
    pub(crate) fn add(&self, line: &[u8]) {
        self.all.strays.fetch_add(1, Ordering::Relaxed);
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            let kept = line.get(..KEPT).unwrap_or(line).to_vec();
            *self.first.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
        }
    }

    /// What the operator should know of them when something went wrong.
    pub(crate) fn noted_on(&self, fault: Fault) -> Fault {
        let count = self.count.load(Ordering::Relaxed);
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match first {
            Some(first) => {
                let note = format!("{count} lines on its standard output were no messages");
                fault.note("stray lines", note).capture("first stray line", first)
            }
            None => fault,
        }
    }
}
