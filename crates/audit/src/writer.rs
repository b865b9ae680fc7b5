//! The thread that writes: finds words for records, chains them, and puts many on disk at once.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant, SystemTime};

use failwell_fault::Fault;
use failwell_render::Moment;
use tokio::sync::oneshot;

use crate::journal::Journal;
use crate::ledger::{Kept, Shared};
use crate::line::{Event, Line};
use crate::record::Record;
use crate::redact::Redact;
use crate::settings::{LedgerSettings, Promise};
use crate::sink::Written;
use crate::store::{Draft, Pace, Store, let_others_first};

/// Room for most records, so that writing one down does not move it about.
const USUAL: usize = 512;
/// Records written at once at the most.
const LARGEST_BATCH: usize = 512;
/// How long records gather before they are written, when nobody waits for them. Also keeps requests from waking
/// this thread one by one.
const GATHER: Duration = Duration::from_millis(10);
/// How often a ledger that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// How often old records are looked for.
const PRUNE: Duration = Duration::from_secs(60);
/// … and after how many new ones.
const PRUNE_AFTER: u64 = 20_000;

/// What comes through the queue.
pub(crate) enum Item {
    Record(Box<Record>, Option<oneshot::Sender<Kept>>),
    Flush(SyncSender<()>),
}

pub(crate) struct Writer {
    settings: LedgerSettings,
    redact: Redact,
    shared: Arc<Shared>,
    journal: Journal,
    store: Option<Store>,
    drafts: Vec<Draft>,
    waiting: Vec<oneshot::Sender<Kept>>,
    /// Records among the drafts, and what they weigh.
    records: u64,
    weight: usize,
    oldest: Option<SystemTime>,
    /// The number of the last record that is on disk.
    through: i64,
    retry_at: Option<Instant>,
    prune_at: Instant,
    since_pruned: u64,
}

impl Writer {
    pub(crate) fn new(settings: LedgerSettings, shared: Arc<Shared>, journal: Journal) -> Writer {
        Writer {
            redact: Redact::new(settings.redactor.clone()).with_bodies(settings.body_redactor.clone()),
            settings,
            shared,
            journal,
            store: None,
            drafts: Vec::new(),
            waiting: Vec::new(),
            records: 0,
            weight: 0,
            oldest: None,
            through: 0,
            retry_at: None,
            prune_at: Instant::now() + PRUNE,
            since_pruned: 0,
        }
    }

    /// Writes until nobody can hand anything over any more.
    pub(crate) fn run(mut self, items: &Receiver<Item>, opened: &SyncSender<()>) {
        self.commit();
        let _ = opened.try_send(());
        loop {
            if self.is_stuck() {
                // The rest waits in the queue, whose bound counts what does not fit.
                std::thread::sleep(GATHER);
            } else {
                match items.recv_timeout(self.rest()) {
                    Ok(first) => self.gather(first, items),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return self.write(),
                }
            }
            self.write();
            self.keep_house();
            if self.is_stuck() && Arc::strong_count(&self.shared) == 1 {
                return;
            }
        }
    }

    /// Whether as much waits for the disk as is held here.
    fn is_stuck(&self) -> bool {
        self.retry_at.is_some() && self.drafts.len() >= LARGEST_BATCH
    }

    /// How long to wait for the next record.
    fn rest(&self) -> Duration {
        if self.retry_at.is_some() { RETRY } else { PRUNE.min(RETRY * 10) }
    }

    fn gather(&mut self, first: Item, items: &Receiver<Item>) {
        let nobody_waits = matches!(first, Item::Record(_, None));
        self.take(first);
        let is_calm = nobody_waits && self.shared.pace() == Pace::Calm;
        if is_calm && self.settings.promise == Promise::BestEffort {
            std::thread::sleep(GATHER);
        }
        while self.drafts.len() < LARGEST_BATCH {
            let Ok(next) = items.try_recv() else { return };
            self.take(next);
        }
    }

    fn take(&mut self, item: Item) {
        match item {
            Item::Record(record, kept) => {
                self.oldest.get_or_insert(record.ended);
                self.weight += record.weight();
                self.records += 1;
                let_others_first(self.drafts.len(), self.shared.pace());
                self.drafts.push(self.draft(&record));
                self.waiting.extend(kept);
            }
            Item::Flush(done) => {
                self.write();
                self.settings.sinks.iter_mut().for_each(|sink| sink.flush());
                let _ = done.try_send(());
            }
        }
    }

    fn draft(&self, record: &Record) -> Draft {
        let line = Line::of(record, &self.redact, self.settings.bodies.unwrap_or(0));
        let mut body = Vec::with_capacity(USUAL);
        // Written to memory, of texts and numbers: nothing can go wrong.
        let _ = serde_json::to_writer(&mut body, &line);
        Draft {
            at: Moment::from(record.ended).unix_millis(),
            reference: line.has_failed().then(|| line.reference.clone().into_owned()),
            body: String::from_utf8(body).unwrap_or_default(),
        }
    }

    /// Writes what was gathered. What cannot be written now is tried again, unless somebody waits for it: they
    /// are told.
    fn write(&mut self) {
        if self.retry_at.is_some_and(|at| Instant::now() < at) {
            self.give_up();
        } else if !self.drafts.is_empty() || self.retry_at.is_some() {
            self.commit();
        }
    }

    fn commit(&mut self) {
        let lost = self.shared.lost_untold.swap(0, Ordering::Relaxed);
        if lost > 0 {
            self.drafts.insert(0, Draft::of_event(Event::Lost { records: lost }, Moment::now()));
        }
        match self.append() {
            Ok(()) => self.succeeded(),
            Err(fault) => {
                if lost > 0 {
                    self.drafts.remove(0);
                    self.shared.lost_untold.fetch_add(lost, Ordering::Relaxed);
                }
                self.failed(&fault);
            }
        }
    }

    fn append(&mut self) -> Result<(), Fault> {
        let store = match self.store.as_mut() {
            Some(store) => store,
            None => self.store.insert(Store::open(&self.settings.folder, self.settings.promise)?),
        };
        let heads = store.append(&self.drafts, self.shared.pace())?;
        self.through = heads.last().map_or(self.through, |head| head.seq);
        if !self.settings.sinks.is_empty() {
            let bodies = self.drafts.drain(..).map(|draft| draft.body);
            let written: Vec<Written> =
                heads.into_iter().zip(bodies).map(|(head, body)| Written { head, body }).collect();
            for sink in &mut self.settings.sinks {
                if let Err(fault) = sink.write(&written) {
                    self.shared.sink_failures.fetch_add(1, Ordering::Relaxed);
                    self.journal.note_trouble("a copy of the ledger cannot be written", sink.name(), &fault);
                }
            }
        }
        Ok(())
    }

    fn succeeded(&mut self) {
        if self.retry_at.take().is_some() {
            self.journal.note_event("the ledger can be written again", "ledger");
        }
        self.shared.broken.store(false, Ordering::Release);
        self.answer(Kept::Through(self.through));
        self.shared.written.fetch_add(self.records, Ordering::Relaxed);
        self.since_pruned += self.records;
        let lag = self.oldest.and_then(|oldest| oldest.elapsed().ok()).unwrap_or_default();
        self.shared.lag_us.store(u64::try_from(lag.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.forget();
    }

    fn failed(&mut self, fault: &Fault) {
        if self.retry_at.is_none() {
            self.journal.note_trouble("the ledger cannot be written", "ledger", fault);
        }
        // What is open may be what is broken: begin anew next time.
        self.store = None;
        self.retry_at = Some(Instant::now() + RETRY);
        self.shared.broken.store(true, Ordering::Release);
        self.shared.room.notify_waiters();
        self.give_up();
    }

    /// Tells whoever waits for a record that there will be none.
    fn give_up(&mut self) {
        if self.settings.promise == Promise::Critical {
            self.answer(Kept::No);
            self.shared.lose(self.records);
            self.forget();
        }
    }

    fn answer(&mut self, kept: Kept) {
        for waiting in self.waiting.drain(..) {
            // Who no longer waits need not know.
            let _ = waiting.send(kept);
        }
    }

    fn forget(&mut self) {
        self.shared.waiting.fetch_sub(self.records, Ordering::Relaxed);
        self.shared.weight.fetch_sub(self.weight, Ordering::Relaxed);
        self.drafts.clear();
        (self.records, self.weight, self.oldest) = (0, 0, None);
        self.shared.room.notify_waiters();
    }

    /// Old records go when there is time, or when there are many new ones.
    fn keep_house(&mut self) {
        if Instant::now() < self.prune_at && self.since_pruned < PRUNE_AFTER {
            return;
        }
        let Some(store) = self.store.as_mut() else { return };
        let more = store.prune(&self.settings.retention, Moment::now()).unwrap_or(false);
        self.since_pruned = 0;
        self.prune_at = Instant::now() + if more { Duration::from_millis(100) } else { PRUNE };
    }
}
