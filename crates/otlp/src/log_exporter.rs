//! Exports records from the ledger in order. A record is retried as long as the ledger has it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use failwell_audit::{Batch, ExportCounters, FlushRequest, LedgerFollower, Row};
use failwell_fault::{Fault, ReasonRegistry};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::collector::{Collector, backoff};
use crate::cursor::ExportCursor;
use crate::export_result::{ExportResult, failed};
use crate::log_records;

/// Maximum bytes of records in one batch.
const LARGEST: usize = 1 << 20;
/// Interval of checks of the ledger without a signal.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) struct LogExporter {
    pub(crate) collector: Collector,
    pub(crate) follower: LedgerFollower,
    pub(crate) folder: PathBuf,
    pub(crate) counters: Arc<ExportCounters>,
    pub(crate) flushes: mpsc::Receiver<FlushRequest>,
    pub(crate) most: usize,
    pub(crate) service: (&'static str, &'static str),
    pub(crate) reasons: ReasonRegistry,
}

/// The exported chain and its progress.
struct ChainProgress {
    place: ExportCursor,
    node: String,
    through: i64,
}

/// The result of one export step.
enum LogStep {
    /// There are no new records.
    Idle,
    /// There may be more records.
    On,
    /// The step failed; retry after this delay.
    Wait(Duration),
}

impl LogExporter {
    /// Runs until the handle is dropped.
    pub(crate) async fn run(mut self) {
        let (mut chain, mut failures, mut smaller) = (None, 0, self.most);
        let mut flush: Option<FlushRequest> = None;
        loop {
            if chain.is_none() {
                chain = self.begin();
            }
            let went = match &mut chain {
                Some(chain) => self.carry(chain, &mut failures, &mut smaller).await,
                None => LogStep::Idle,
            };
            let wait = match went {
                LogStep::On => continue,
                LogStep::Idle => LOOK,
                LogStep::Wait(wait) => wait,
            };
            // Everything that can be exported now has been, so a pending flush is complete.
            if let Some(flush) = flush.take() {
                flush.done();
            }
            let idle = matches!(went, LogStep::Idle);
            tokio::select! {
                () = tokio::time::sleep_until(Instant::now() + wait) => {}
                () = self.follower.changed(), if idle => {}
                asked = self.flushes.recv() => match asked {
                    Some(asked) => flush = Some(asked),
                    None => return,
                },
            }
        }
    }

    /// Continues from the stored position. A chain without a position starts at its current end.
    fn begin(&mut self) -> Option<ChainProgress> {
        let node = self.follower.node().ok().flatten()?;
        let (place, known) = ExportCursor::take(&self.folder, &node)?;
        let through = match known {
            Some(through) => through,
            None => {
                let end = self.follower.after(i64::MAX, 1, 1).ok().flatten()?.head.seq;
                self.keep(&place, end);
                end
            }
        };
        Some(ChainProgress { place, node, through })
    }

    async fn carry(&mut self, chain: &mut ChainProgress, failures: &mut u32, most: &mut usize) -> LogStep {
        let batch = match self.follower.after(chain.through, *most, LARGEST) {
            Ok(Some(batch)) => batch,
            Ok(None) => return LogStep::Idle,
            Err(why) => return self.later(failures, None, &why),
        };
        self.note_gap(chain, &batch);
        let Some(last) = batch.rows.last().map(|row| row.head.seq) else {
            self.counters.set_waiting(0);
            return LogStep::Idle;
        };
        self.counters.set_waiting(u64::try_from(batch.head.seq - chain.through).unwrap_or(0));
        let body = Bytes::from(log_records::request(&batch.rows, self.service, &chain.node, &self.reasons));
        match self.collector.export(body).await {
            ExportResult::Accepted { refused, why } => {
                let kept = batch.rows.len().saturating_sub(usize::try_from(refused).unwrap_or(usize::MAX));
                self.counters.record_sent(kept, age(batch.rows.first()));
                if let Some(why) = why {
                    self.counters.record_dropped(refused, &why);
                }
                self.passed(chain, last);
                (*failures, *most) = (0, self.most);
                LogStep::On
            }
            // The batch is too large, or contains a record that the collector rejects: retry with half of it.
            ExportResult::Rejected(why) if batch.rows.len() > 1 => {
                self.counters.record_failure(&why);
                *most = batch.rows.len() / 2;
                LogStep::On
            }
            ExportResult::Rejected(why) => {
                self.counters.record_dropped(1, &why);
                self.passed(chain, last);
                LogStep::On
            }
            ExportResult::Retry { after, why } => self.later(failures, after, &why),
        }
    }

    fn later(&self, failures: &mut u32, after: Option<Duration>, why: &Fault) -> LogStep {
        *failures += 1;
        self.counters.record_failure(why);
        LogStep::Wait(backoff(*failures, after))
    }

    /// Counts records that retention removed before they were exported.
    fn note_gap(&self, chain: &mut ChainProgress, batch: &Batch) {
        let Some(removed) = batch.removed.filter(|removed| removed.seq > chain.through) else { return };
        let count = u64::try_from(removed.seq - chain.through).unwrap_or(0);
        let why =
            format!("records {} to {} were removed for their age first", chain.through + 1, removed.seq);
        self.counters.record_dropped(count, &failed(why));
        chain.through = removed.seq;
    }

    fn passed(&self, chain: &mut ChainProgress, through: i64) {
        chain.through = through;
        self.keep(&chain.place, through);
    }

    /// Stores the position. If that fails, some records are exported twice after a restart.
    fn keep(&self, place: &ExportCursor, through: i64) {
        if let Err(error) = place.advance(through) {
            self.counters
                .record_failure(&failed(format!("how far the records were carried cannot be kept: {error}")));
        }
    }
}

fn age(oldest: Option<&Row>) -> Duration {
    let made = oldest.and_then(|row| u64::try_from(row.at).ok()).map(Duration::from_millis);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    made.map_or(Duration::ZERO, |made| now.saturating_sub(made))
}
