//! The ledger as the walk sees it: a place to put records.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::time::Duration;

use failwell_fault::{Effect, Fault, reason};
use tokio::sync::{Notify, oneshot};

use crate::journal::Journal;
use crate::record::Record;
use crate::settings::{LedgerSettings, Promise};
use crate::store::Pace;
use crate::witness::Witness;
use crate::writer::{Item, Writer};

/// Records that wait to be written at the most.
const LONGEST_QUEUE: u64 = 65_536;
/// From this many on, whoever adds one waits a little, so that the bound is seldom met and memory stays small.
const CROWDED: u64 = 8_192;
/// The same in bytes of bodies and stories.
const HEAVY: usize = HEAVIEST_QUEUE / 8;
/// From this many on, the thread that writes no longer lets others first.
const BEHIND: u64 = 4_096;
/// How long an answer is held up at the most, where no record was promised.
const HOLD_UP: Duration = Duration::from_millis(250);
/// Bytes of bodies and stories that wait at the most.
const HEAVIEST_QUEUE: usize = 64 << 20;
/// How long a request waits for its record at the most.
const PATIENCE: Duration = Duration::from_secs(10);

/// A handle to the ledger. Cheap to clone; the thread behind it ends when the last handle is gone.
#[derive(Clone)]
pub struct Ledger {
    /// Grows as records wait, up to a bound that is counted: room for all of them would be held for nothing.
    queue: Sender<Item>,
    shared: Arc<Shared>,
    promise: Promise,
    bodies: Option<usize>,
    witnesses: Arc<[Witness]>,
}

/// What the handles and the thread both know.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) broken: AtomicBool,
    pub(crate) lost: AtomicU64,
    pub(crate) lost_untold: AtomicU64,
    pub(crate) written: AtomicU64,
    pub(crate) waiting: AtomicU64,
    pub(crate) weight: AtomicUsize,
    pub(crate) lag_us: AtomicU64,
    pub(crate) sink_failures: AtomicU64,
    /// Told whenever fewer wait than before.
    pub(crate) room: Notify,
}

impl Shared {
    /// How records are to be written now.
    pub(crate) fn pace(&self) -> Pace {
        if self.waiting.load(Ordering::Relaxed) > BEHIND { Pace::Hurried } else { Pace::Calm }
    }

    /// Not while it cannot be written: nobody knows for how long.
    fn is_crowded(&self) -> bool {
        let is_full = || self.weight.load(Ordering::Relaxed) > HEAVY;
        (self.waiting.load(Ordering::Relaxed) > CROWDED || is_full()) && !self.broken.load(Ordering::Relaxed)
    }

    pub(crate) fn lose(&self, records: u64) {
        self.lost.fetch_add(records, Ordering::Relaxed);
        self.lost_untold.fetch_add(records, Ordering::Relaxed);
    }
}

/// The state of a ledger in numbers.
#[derive(Debug, Clone, Copy)]
pub struct LedgerHealth {
    /// Whether the last attempt to write worked.
    pub works: bool,
    /// Records on disk since the start.
    pub written: u64,
    /// Records that could not be kept.
    pub lost: u64,
    /// Records that wait.
    pub waiting: u64,
    /// How old the oldest record was when it was last written.
    pub lag: Duration,
    /// Times another sink could not be written to.
    pub sink_failures: u64,
}

/// What became of the request whose record could not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// Nothing: it was refused before it was looked at.
    Nothing,
    /// It may have been carried out.
    Perhaps,
}

impl Ledger {
    /// Starts the thread that writes. A ledger that cannot be opened is tried again and again; meanwhile it is
    /// broken, and the journal says so.
    pub fn start(settings: LedgerSettings, journal: Journal) -> Ledger {
        let (queue, items) = channel();
        let shared = Arc::new(Shared::default());
        let (promise, bodies) = (settings.promise, settings.bodies);
        let witnesses = settings.witnesses.clone().into();
        let (opened, opening) = sync_channel(1);
        let writer = Writer::new(settings, shared.clone(), journal);
        let thread = std::thread::Builder::new().name("ledger".to_owned());
        if thread.spawn(move || writer.run(&items, &opened)).is_err() {
            shared.broken.store(true, Ordering::Release);
        }
        // The first request should find out whether the ledger works, not be told that it does not yet.
        let _ = opening.recv_timeout(PATIENCE);
        Ledger { queue, shared, promise, bodies, witnesses }
    }

    /// How many bytes of each body are kept.
    pub fn bodies(&self) -> Option<usize> {
        self.bodies
    }

    /// Whether an answer may only leave when its record is on disk.
    pub fn is_critical(&self) -> bool {
        self.promise == Promise::Critical
    }

    /// Refuses work whose record could not be kept, while that can be known beforehand.
    pub fn admit(&self) -> Result<(), Fault> {
        if self.is_critical() && self.shared.broken.load(Ordering::Acquire) {
            return Err(failed(Done::Nothing).note("ledger", "the last attempt to write it failed"));
        }
        let absent = self.witnesses.iter().find(|witness| self.is_critical() && !witness.works());
        absent.map_or(Ok(()), |witness| Err(failed(Done::Nothing).note("ledger", witness.missing())))
    }

    /// Hands a record over. Never waits; what does not fit is counted.
    pub fn note(&self, record: Box<Record>) {
        let _ = self.put(record, None);
    }

    /// Whether an answer should wait for [`Ledger::room`] before it leaves.
    pub fn is_crowded(&self) -> bool {
        self.shared.is_crowded()
    }

    /// Waits until the thread that writes has caught up, a little while at the most. Callers come no faster than their
    /// records are written then, instead of records being lost.
    pub async fn room(&self) {
        let caught_up = async {
            while self.is_crowded() {
                let mut told = std::pin::pin!(self.shared.room.notified());
                // From here on nothing is missed; what was told before is seen in the numbers.
                told.as_mut().enable();
                if self.is_crowded() {
                    told.await;
                }
            }
        };
        let _ = tokio::time::timeout(HOLD_UP, caught_up).await;
    }

    /// Hands a record over and waits until it is on disk.
    pub async fn keep(&self, record: Box<Record>) -> Result<(), Fault> {
        if self.shared.broken.load(Ordering::Acquire) {
            self.shared.lose(1);
            return Err(failed(Done::Perhaps).note("ledger", "the last attempt to write it failed"));
        }
        let began = tokio::time::Instant::now();
        let (kept, waiting) = oneshot::channel();
        self.put(record, Some(kept))?;
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(Ok(Kept::Through(seq))) => self.witnessed(seq, began).await,
            Ok(_) => {
                Err(failed(Done::Perhaps).note("ledger", "the record was not written; the log says why"))
            }
            Err(_) => Err(failed(Done::Perhaps).note("ledger", "the record was not written in time")),
        }
    }

    /// Waits until every witness has the records too, within what is left of the patience.
    async fn witnessed(&self, seq: i64, began: tokio::time::Instant) -> Result<(), Fault> {
        for witness in self.witnesses.iter() {
            if !witness.has(seq, began + PATIENCE).await {
                return Err(failed(Done::Perhaps).note("ledger", witness.missing()));
            }
        }
        Ok(())
    }

    fn put(&self, record: Box<Record>, kept: Option<oneshot::Sender<Kept>>) -> Result<(), Fault> {
        let weight = record.weight();
        // Most weigh nothing, and need not be added to what every processor adds to.
        let before = if weight == 0 { 0 } else { self.shared.weight.fetch_add(weight, Ordering::Relaxed) };
        let waiting = self.shared.waiting.fetch_add(1, Ordering::Relaxed);
        let fits = waiting < LONGEST_QUEUE && (weight == 0 || before + weight <= HEAVIEST_QUEUE);
        if fits && self.queue.send(Item::Record(record, kept)).is_ok() {
            return Ok(());
        }
        self.shared.weight.fetch_sub(weight, Ordering::Relaxed);
        self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
        self.shared.lose(1);
        Err(failed(Done::Perhaps).note("ledger", "too many records wait to be written"))
    }

    /// Waits until what was handed over is written, at most for a while.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if self.queue.send(Item::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(PATIENCE / 2);
        }
    }

    /// How it is doing.
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

/// Whether a record is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It is, with everything up to this number.
    Through(i64),
    No,
}

/// The fault of an exchange whose record could not be kept.
pub fn failed(done: Done) -> Fault {
    let fault = Fault::new(&reason::AUDIT_FAILED);
    match done {
        Done::Nothing => fault.fact("done", "nothing was forwarded"),
        Done::Perhaps => {
            fault.fact("done", "the request may have been carried out").with_effect(Effect::Unknown)
        }
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("promise", &self.promise).finish_non_exhaustive()
    }
}
