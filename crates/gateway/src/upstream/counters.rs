//! Counters of one upstream, over all its connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, Reason, reason};
use failwell_toolbox::Histogram;
use parking_lot::Mutex;

use crate::upstream::connection::close_reason::CloseReason;
use crate::upstream::lifecycle::UpstreamLifecycle;

const KEPT: usize = 256;
/// How often the same list failure is logged.
const REPORT: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct UpstreamCounters {
    starts: AtomicU64,
    ends: AtomicU64,
    strays: AtomicU64,
    failures: AtomicU64,
    took: Histogram,
    life: Arc<UpstreamLifecycle>,
    reported: Mutex<Option<(Instant, &'static Reason)>>,
}

/// Lines of one connection that were not JSON-RPC messages.
#[derive(Debug)]
pub(crate) struct StrayLines {
    all: Arc<UpstreamCounters>,
    count: AtomicU64,
    first: Mutex<Option<Vec<u8>>>,
}

impl UpstreamCounters {
    pub(crate) fn of(life: Arc<UpstreamLifecycle>) -> Arc<UpstreamCounters> {
        Arc::new(UpstreamCounters { life, ..UpstreamCounters::default() })
    }

    pub(crate) fn lifecycle(&self) -> &Arc<UpstreamLifecycle> {
        &self.life
    }

    pub(crate) fn start(&self) {
        self.starts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn starts(&self) -> u64 {
        self.starts.load(Ordering::Relaxed)
    }

    pub(crate) fn answered(&self, took: Duration, is_ok: bool) {
        self.took.observe(took);
        if !is_ok {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn took(&self) -> &Histogram {
        &self.took
    }

    pub(crate) fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// A process or connection ended, after its handshake or before.
    pub(crate) fn end(&self, why: &CloseReason, established: bool) {
        self.ends.fetch_add(1, Ordering::Relaxed);
        if established {
            self.life.ended(why);
        }
    }

    pub(crate) fn ends(&self) -> u64 {
        self.ends.load(Ordering::Relaxed)
    }

    pub(crate) fn strays(&self) -> u64 {
        self.strays.load(Ordering::Relaxed)
    }

    /// Whether to log a fault: when it is new, and once a minute while it lasts. An open circuit is not logged,
    /// because its cause was.
    pub(crate) fn is_worth_reporting(&self, fault: &Fault) -> bool {
        if *fault.reason() == reason::GATEWAY_CIRCUIT_OPEN {
            return false;
        }
        let mut reported = self.reported.lock();
        let worth =
            reported.is_none_or(|(when, known)| when.elapsed() >= REPORT || *known != *fault.reason());
        if worth {
            *reported = Some((Instant::now(), fault.reason()));
        }
        worth
    }
}

impl StrayLines {
    pub(crate) fn new(all: Arc<UpstreamCounters>) -> StrayLines {
        StrayLines { all, count: AtomicU64::new(0), first: Mutex::default() }
    }

    pub(crate) fn all(&self) -> &UpstreamCounters {
        &self.all
    }

    pub(crate) fn add(&self, line: &[u8]) {
        self.all.strays.fetch_add(1, Ordering::Relaxed);
        if self.count.fetch_add(1, Ordering::Relaxed) == 0 {
            let kept = line.get(..KEPT).unwrap_or(line).to_vec();
            *self.first.lock() = Some(kept);
        }
    }

    /// Adds the stray lines to a fault, for the operator.
    pub(crate) fn annotate(&self, fault: Fault) -> Fault {
        let count = self.count.load(Ordering::Relaxed);
        let first = self.first.lock().clone();
        match first {
            Some(first) => {
                let note = format!("{count} lines on its standard output were no messages");
                fault.note("stray lines", note).capture("first stray line", first)
            }
            None => fault,
        }
    }
}
