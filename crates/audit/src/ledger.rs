//! The ledger's handle: the pipeline hands records to it, and a thread writes them.

pub(crate) mod chain;
pub(crate) mod file;
pub(crate) mod reader;
pub(crate) mod record_line;
pub(crate) mod refusals;
pub(crate) mod run_marker;
pub(crate) mod settings;
pub(crate) mod verify;
pub(crate) mod writer;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::time::Duration;

use failwell_fault::{Effect, Fault, reason};
use tokio::sync::{Notify, oneshot};

use crate::export::replica::Replica;
use crate::ledger::file::SyncMode;
use crate::ledger::refusals::RefusalSampler;
use crate::ledger::settings::{Durability, LedgerSettings};
use crate::ledger::writer::{QueueItem, Writer};
use failwell_journal::{Journal, weight};
use failwell_pipeline::{Record, RecordSink};
use failwell_toolbox::PortFuture;

/// Maximum number of records in the queue.
const LONGEST_QUEUE: u64 = 65_536;
/// Above this number of records, responses wait (back-pressure), so that the queue rarely fills and memory
/// stays small.
const CROWDED: u64 = 8_192;
/// The back-pressure threshold in bytes of bodies and private halves of faults.
const HEAVY: usize = HEAVIEST_QUEUE / 8;
/// Above this number, the writer thread no longer yields to other threads.
const BEHIND: u64 = 4_096;
/// Maximum delay of a response by back-pressure when `durability` is not critical.
const HOLD_UP: Duration = Duration::from_millis(250);
/// Maximum bytes of bodies and private halves of faults in the queue.
const HEAVIEST_QUEUE: usize = 64 << 20;
/// Maximum time that a request waits for its record.
const PATIENCE: Duration = Duration::from_secs(10);

/// A handle to the ledger. Cloning is cheap. The writer thread ends when the last handle is dropped.
#[derive(Clone)]
pub struct Ledger {
    /// Grows on demand, up to a counted bound. A preallocated queue would waste memory.
    queue: Sender<QueueItem>,
    shared: Arc<LedgerState>,
    durability: Durability,
    bodies: Option<usize>,
    replicas: Arc<[Replica]>,
}

/// State shared by the handles and the writer thread.
#[derive(Default)]
pub(crate) struct LedgerState {
    pub(crate) broken: AtomicBool,
    pub(crate) lost: AtomicU64,
    pub(crate) lost_untold: AtomicU64,
    pub(crate) written: AtomicU64,
    pub(crate) waiting: AtomicU64,
    pub(crate) weight: AtomicUsize,
    pub(crate) lag_us: AtomicU64,
    pub(crate) sink_failures: AtomicU64,
    pub(crate) refusals: RefusalSampler,
    /// The program ends: the writer makes a last attempt and stops.
    pub(crate) closing: AtomicBool,
    /// Notified whenever the queue shrinks.
    pub(crate) space_freed: Notify,
}

impl LedgerState {
    /// The pace at which the writer works at present.
    pub(crate) fn pace(&self) -> SyncMode {
        if self.waiting.load(Ordering::Relaxed) > BEHIND { SyncMode::Hurried } else { SyncMode::Calm }
    }

    /// False while the ledger is broken, because the outage may last and responses must not wait for it.
    fn is_crowded(&self) -> bool {
        let is_full = || self.weight.load(Ordering::Relaxed) > HEAVY;
        (self.waiting.load(Ordering::Relaxed) > CROWDED || is_full()) && !self.broken.load(Ordering::Relaxed)
    }

    pub(crate) fn lose(&self, records: u64) {
        self.lost.fetch_add(records, Ordering::Relaxed);
        self.lost_untold.fetch_add(records, Ordering::Relaxed);
    }
}

#[derive(Debug, Clone, Copy)]
pub struct LedgerHealth {
    /// The last attempt to write succeeded.
    pub works: bool,
    /// Records written since the start.
    pub written: u64,
    /// Records that could not be written.
    pub lost: u64,
    /// Records in the queue.
    pub waiting: u64,
    /// The age of the oldest record in the last batch when it was written.
    pub lag: Duration,
    /// Failed writes to other sinks.
    pub sink_failures: u64,
}

/// The progress of a request when its record could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardState {
    /// The request was refused before any processing.
    NotForwarded,
    /// The request may have been carried out.
    MayHaveRun,
}

impl Ledger {
    /// Starts the writer thread. If the ledger cannot be opened, the thread retries. Meanwhile the ledger
    /// counts as broken, and the journal reports it.
    pub fn start(settings: LedgerSettings, journal: Journal) -> Ledger {
        let (queue, items) = channel();
        let shared = Arc::new(LedgerState::default());
        let (durability, bodies) = (settings.durability, settings.bodies);
        let replicas = settings.replicas.clone().into();
        let (opened, opening) = sync_channel(1);
        let writer = Writer::new(settings, shared.clone(), journal);
        let thread = std::thread::Builder::new().name("ledger".to_owned());
        if thread.spawn(move || writer.run(&items, &opened)).is_err() {
            shared.broken.store(true, Ordering::Release);
        }
        // Wait for the first attempt, so that the first request sees the true state of the ledger.
        let _ = opening.recv_timeout(PATIENCE);
        Ledger { queue, shared, durability, bodies, replicas }
    }

    /// Maximum bytes of each body to record; `None` if bodies are not recorded.
    pub fn bodies(&self) -> Option<usize> {
        self.bodies
    }

    /// Returns true if a response may leave only after its record is on disk.
    pub fn is_critical(&self) -> bool {
        self.durability == Durability::Critical
    }

    /// Refuses a request if it is already known that its record cannot be written.
    pub fn admit(&self) -> Result<(), Fault> {
        if self.is_critical() && self.shared.broken.load(Ordering::Acquire) {
            return Err(
                failed(ForwardState::NotForwarded).note("ledger", "the last attempt to write it failed")
            );
        }
        let absent = self.replicas.iter().find(|replica| self.is_critical() && !replica.works());
        absent.map_or(Ok(()), |replica| {
            Err(failed(ForwardState::NotForwarded).note("ledger", replica.missing()))
        })
    }

    /// Queues a record. Never blocks; a record that does not fit is counted as lost.
    pub fn note(&self, record: Box<Record>) {
        let _ = self.put(record, None);
    }

    /// Returns true if a response should wait for [`Ledger::wait_for_space`] before it leaves.
    pub fn is_crowded(&self) -> bool {
        self.shared.is_crowded()
    }

    /// Waits until the writer has caught up, for at most 250 ms. Back-pressure slows callers down instead of
    /// losing records.
    pub async fn wait_for_space(&self) {
        let caught_up = async {
            while self.is_crowded() {
                let mut freed = std::pin::pin!(self.shared.space_freed.notified());
                // From here on no notification is missed; earlier ones show in the counters.
                freed.as_mut().enable();
                if self.is_crowded() {
                    freed.await;
                }
            }
        };
        let _ = tokio::time::timeout(HOLD_UP, caught_up).await;
    }

    /// Queues a record and waits until it is on disk.
    pub async fn keep(&self, record: Box<Record>) -> Result<(), Fault> {
        if self.shared.broken.load(Ordering::Acquire) {
            self.shared.lose(1);
            return Err(
                failed(ForwardState::MayHaveRun).note("ledger", "the last attempt to write it failed")
            );
        }
        let began = tokio::time::Instant::now();
        let (written, waiting) = oneshot::channel();
        self.put(record, Some(written))?;
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(Ok(WriteResult::Written(seq))) => self.replicated(seq, began).await,
            Ok(_) => Err(failed(ForwardState::MayHaveRun)
                .note("ledger", "the record was not written; the log says why")),
            Err(_) => {
                Err(failed(ForwardState::MayHaveRun).note("ledger", "the record was not written in time"))
            }
        }
    }

    /// Waits until every replica has the record, within the remaining time.
    async fn replicated(&self, seq: i64, began: tokio::time::Instant) -> Result<(), Fault> {
        for replica in self.replicas.iter() {
            if !replica.has(seq, began + PATIENCE).await {
                return Err(failed(ForwardState::MayHaveRun).note("ledger", replica.missing()));
            }
        }
        Ok(())
    }

    fn put(&self, record: Box<Record>, written: Option<oneshot::Sender<WriteResult>>) -> Result<(), Fault> {
        let weight = weight_of(&record);
        // Most records have no weight. Skipping the shared counter avoids contention between processors.
        let before = if weight == 0 { 0 } else { self.shared.weight.fetch_add(weight, Ordering::Relaxed) };
        let waiting = self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        let fits = waiting < LONGEST_QUEUE && (weight == 0 || before + weight <= HEAVIEST_QUEUE);
        if fits && self.queue.send(QueueItem::Record(record, written)).is_ok() {
            return Ok(());
        }
        self.shared.weight.fetch_sub(weight, Ordering::Relaxed);
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        self.shared.lose(1);
        Err(failed(ForwardState::MayHaveRun).note("ledger", "too many records wait to be written"))
    }

    /// Waits until all queued records are written, for a bounded time.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if self.queue.send(QueueItem::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(PATIENCE / 2);
        }
    }

    /// Writes all queued records and counts, and closes the file, for a bounded time. Records that cannot be written
    /// are reported in the log, and by the next start. Nothing is recorded afterwards.
    pub fn close(&self) {
        let (done, wait) = sync_channel(1);
        self.shared.closing.store(true, Ordering::Release);
        if self.queue.send(QueueItem::Close(done)).is_ok() {
            let _ = wait.recv_timeout(PATIENCE);
        }
    }

    pub fn health(&self) -> LedgerHealth {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        LedgerHealth {
            works: !self.shared.broken.load(Ordering::Relaxed),
            written: read(&self.shared.written),
            lost: read(&self.shared.lost),
            waiting: read(&self.shared.waiting),
            lag: Duration::from_micros(read(&self.shared.lag_us)),
            sink_failures: read(&self.shared.sink_failures),
        }
    }
}

impl RecordSink for Ledger {
    fn admit(&self) -> Result<(), Fault> {
        Ledger::admit(self)
    }

    fn is_critical(&self) -> bool {
        Ledger::is_critical(self)
    }

    fn sample(&self, refused_from: IpAddr, reason: &'static str) -> bool {
        self.shared.refusals.admit(refused_from, reason)
    }

    fn bodies(&self) -> Option<usize> {
        Ledger::bodies(self)
    }

    fn note(&self, record: Box<Record>) {
        Ledger::note(self, record);
    }

    fn keep(&self, record: Box<Record>) -> PortFuture<'_, Result<(), Fault>> {
        Box::pin(Ledger::keep(self, record))
    }

    fn is_crowded(&self) -> bool {
        Ledger::is_crowded(self)
    }

    fn wait_for_space(&self) -> PortFuture<'_, ()> {
        Box::pin(Ledger::wait_for_space(self))
    }
}

/// Bytes on the heap, counting only parts that can be large.
pub(crate) fn weight_of(record: &Record) -> usize {
    let bodies = record.bodies.as_ref().map_or(0, |bodies| bodies.request.len() + bodies.answer.len());
    bodies + record.ended_as.fault().map_or(0, |fault| weight(fault))
}

/// The result of writing a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteResult {
    /// On disk, with all records up to this sequence number.
    Written(i64),
    Failed,
}

/// The fault of an exchange whose record could not be written.
pub fn failed(done: ForwardState) -> Fault {
    let fault = Fault::new(&reason::AUDIT_FAILED);
    match done {
        ForwardState::NotForwarded => fault.fact("done", "nothing was forwarded"),
        ForwardState::MayHaveRun => {
            fault.fact("done", "the request may have been carried out").with_effect(Effect::Unknown)
        }
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("durability", &self.durability).finish_non_exhaustive()
    }
}
