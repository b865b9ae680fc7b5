//! The writer thread: formats records, chains them, and writes them in batches.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant, SystemTime};

use failwell_fault::{Fault, reason};
use failwell_render::Moment;
use tokio::sync::oneshot;

use crate::ledger::chain::ChainHead;
use crate::ledger::file::{LedgerFile, RecordClass, RecordDraft, SyncMode, let_others_first};
use crate::ledger::record_line::{Event, RecordLine};
use crate::ledger::refusals::WindowEnd;
use crate::ledger::run_marker::{RunMarker, take_abandoned};
use crate::ledger::settings::{Durability, LedgerSettings};
use crate::ledger::weight_of;
use crate::ledger::{LedgerState, WriteResult};
use crate::sink::{LedgerRecord, event_text};
use failwell_journal::Journal;
use failwell_journal::TextRedactor;
use failwell_pipeline::Record;

/// Initial buffer size. Most records fit, so that the buffer is not reallocated.
const USUAL: usize = 512;
/// Maximum number of records in one transaction.
const LARGEST_BATCH: usize = 512;
/// Time to collect a batch when no request waits for its record. It also keeps requests from waking this
/// thread one by one.
const GATHER: Duration = Duration::from_millis(10);
/// Maximum number of events that wait to be written.
const MOST_NOTES: usize = 1_024;
/// Interval between attempts to write after a failure.
const RETRY: Duration = Duration::from_secs(1);
/// Interval between checks of the retention.
const PRUNE: Duration = Duration::from_secs(60);
/// A check also runs after this number of new records.
const PRUNE_AFTER: u64 = 20_000;

pub(crate) enum QueueItem {
    Record(Box<Record>, Option<oneshot::Sender<WriteResult>>),
    Flush(SyncSender<()>),
    Close(SyncSender<()>),
}

pub(crate) struct Writer {
    settings: LedgerSettings,
    redact: TextRedactor,
    shared: Arc<LedgerState>,
    journal: Journal,
    store: Option<LedgerFile>,
    drafts: Vec<RecordDraft>,
    /// Events that the next batch begins with.
    notes: Vec<RecordDraft>,
    waiting: Vec<oneshot::Sender<WriteResult>>,
    /// Those who wait for the end.
    closers: Vec<SyncSender<()>>,
    /// Number and weight of the records in `drafts`.
    records: u64,
    weight: usize,
    oldest: Option<SystemTime>,
    /// The last record on disk.
    last: Option<ChainHead>,
    /// The mark of this program, once it has written a record.
    marker: Option<RunMarker>,
    retry_at: Option<Instant>,
    prune_at: Instant,
    since_pruned: u64,
}

impl Writer {
    pub(crate) fn new(settings: LedgerSettings, shared: Arc<LedgerState>, journal: Journal) -> Writer {
        Writer {
            redact: TextRedactor::new(settings.redactor.clone()).with_bodies(settings.body_redactor.clone()),
            settings,
            shared,
            journal,
            store: None,
            drafts: Vec::new(),
            notes: Vec::new(),
            waiting: Vec::new(),
            closers: Vec::new(),
            records: 0,
            weight: 0,
            oldest: None,
            last: None,
            marker: None,
            retry_at: None,
            prune_at: Instant::now() + PRUNE,
            since_pruned: 0,
        }
    }

    /// Runs until all handles are dropped.
    pub(crate) fn run(mut self, items: &Receiver<QueueItem>, opened: &SyncSender<()>) {
        self.commit();
        let _ = opened.try_send(());
        loop {
            if self.is_stuck() {
                // Further records stay in the queue, which counts those beyond its bound.
                std::thread::sleep(GATHER);
            } else {
                match items.recv_timeout(self.rest()) {
                    Ok(first) => self.gather(first, items),
                    Err(RecvTimeoutError::Timeout) => self.check_place(),
                    Err(RecvTimeoutError::Disconnected) => return self.end(items),
                }
            }
            if self.shared.closing.load(Ordering::Acquire) {
                return self.end(items);
            }
            self.count_refusals(WindowEnd::Elapsed);
            self.write();
            self.maintain();
            if self.is_stuck() && Arc::strong_count(&self.shared) == 1 {
                return self.end(items);
            }
        }
    }

    /// Returns true if a full batch waits for the next attempt to write.
    fn is_stuck(&self) -> bool {
        self.retry_at.is_some() && self.drafts.len() >= LARGEST_BATCH
    }

    /// Maximum time to wait for the next record.
    fn rest(&self) -> Duration {
        if self.retry_at.is_some() { RETRY } else { PRUNE.min(RETRY * 10) }
    }

    fn gather(&mut self, first: QueueItem, items: &Receiver<QueueItem>) {
        let has_no_waiter = matches!(first, QueueItem::Record(_, None));
        self.take(first);
        let is_calm = has_no_waiter && self.shared.pace() == SyncMode::Calm;
        if is_calm && self.settings.durability == Durability::BestEffort {
            std::thread::sleep(GATHER);
        }
        while self.drafts.len() < LARGEST_BATCH {
            let Ok(next) = items.try_recv() else { return };
            self.take(next);
        }
    }

    fn take(&mut self, item: QueueItem) {
        match item {
            QueueItem::Record(record, kept) => {
                self.oldest.get_or_insert(record.ended);
                self.weight += weight_of(&record);
                self.records += 1;
                let_others_first(self.drafts.len(), self.shared.pace());
                self.drafts.push(self.draft(&record));
                self.waiting.extend(kept);
            }
            QueueItem::Flush(done) => {
                self.write();
                self.settings.sinks.iter_mut().for_each(|sink| sink.flush());
                let _ = done.try_send(());
            }
            // The flag has been set before; the answer comes when everything is closed.
            QueueItem::Close(done) => self.closers.push(done),
        }
    }

    fn draft(&self, record: &Record) -> RecordDraft {
        let line = RecordLine::of(record, &self.redact, self.settings.bodies.unwrap_or(0));
        let mut body = Vec::with_capacity(USUAL);
        // Serialization of texts and numbers to memory cannot fail.
        let _ = serde_json::to_writer(&mut body, &line);
        RecordDraft {
            at: Moment::from(record.ended).unix_millis(),
            reference: line.has_failed().then(|| line.reference.clone().into_owned()),
            body: String::from_utf8(body).unwrap_or_default(),
            class: if record.refused_from.is_some() { RecordClass::Refusal } else { RecordClass::Exchange },
        }
    }

    /// Writes the batch. After a failure, best-effort records are retried later; requests that wait for a
    /// record get an error.
    fn write(&mut self) {
        if self.retry_at.is_some_and(|at| Instant::now() < at) {
            self.give_up();
        } else if !self.drafts.is_empty() || !self.notes.is_empty() || self.retry_at.is_some() {
            self.commit();
        }
    }

    fn commit(&mut self) {
        let lost = self.shared.lost_untold.swap(0, Ordering::Relaxed);
        if lost > 0 {
            self.drafts.insert(0, RecordDraft::of_event(Event::Lost { records: lost }, Moment::now()));
        }
        match self.append() {
            Ok(()) => self.succeeded(),
            Err(fault) => {
                if lost > 0 {
                    self.drafts.remove(0);
                    self.shared.lost_untold.fetch_add(lost, Ordering::Relaxed);
                }
                self.failed(&fault.note("path", self.path()));
            }
        }
    }

    fn append(&mut self) -> Result<(), Fault> {
        if self.store.is_none() {
            self.open()?;
        }
        let Some(store) = self.store.as_mut() else { return Ok(()) };
        let notes = self.notes.len();
        self.drafts.splice(0..0, self.notes.drain(..));
        let heads = match store.append(&self.drafts, self.shared.pace()) {
            Ok(heads) => heads,
            Err(fault) => {
                self.notes.extend(self.drafts.drain(..notes));
                return Err(fault);
            }
        };
        self.last = heads.last().copied().or(self.last);
        if self.marker.is_none() && self.records > 0 {
            // Without a mark, only the report of an unclean end is missing.
            self.marker = RunMarker::place(&self.settings.folder).ok();
        }
        if !self.settings.sinks.is_empty() {
            let bodies = self.drafts.drain(..).map(|draft| draft.body);
            let written: Vec<LedgerRecord> =
                heads.into_iter().zip(bodies).map(|(head, body)| LedgerRecord { head, body }).collect();
            for sink in &mut self.settings.sinks {
                if let Err(fault) = sink.write(&written) {
                    self.shared.sink_failures.fetch_add(1, Ordering::Relaxed);
                    self.journal.note_trouble("a copy of the ledger cannot be written", sink.name(), &fault);
                }
            }
        }
        Ok(())
    }

    /// Opens the file, and notes what happened to it and to earlier programs.
    fn open(&mut self) -> Result<(), Fault> {
        let store = LedgerFile::open(&self.settings.folder, self.settings.durability)?;
        if let Some(last) = self.last.filter(|last| !store.contains(*last)) {
            let event = Event::FileReplaced { seq: last.seq, hash: last.hash.to_string() };
            self.journal
                .note_warning("the ledger's file was removed or replaced; a new one is begun", "ledger");
            self.note(event);
            // A new mark is placed beside the new file.
            self.marker.take().into_iter().for_each(RunMarker::remove);
            self.last = None;
        }
        for run in take_abandoned(&self.settings.folder) {
            let event = Event::UncleanEnd { started: run.started, pid: run.pid, lost: run.lost };
            self.journal.note_warning(&event_text(&event), "ledger");
            self.note(event);
        }
        self.store = Some(store);
        Ok(())
    }

    /// Notices a removed file also while nothing is written.
    fn check_place(&mut self) {
        if let Some(Err(fault)) = self.store.as_ref().map(LedgerFile::check_place) {
            self.failed(&fault.note("path", self.path()));
        }
    }

    /// Turns counts of refusals into records and log lines.
    fn count_refusals(&mut self, end: WindowEnd) {
        for count in self.shared.refusals.take(end) {
            let event = Event::Refused {
                reason: count.reason.to_owned(),
                address: count.address.map(|address| address.to_string()),
                count: count.count,
                since: count.since.to_string(),
            };
            self.journal.note_event(&event_text(&event), "ledger");
            self.note(event);
        }
    }

    /// Adds an event to the next batch. It is kept until it is written, within a bound.
    fn note(&mut self, event: Event) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(RecordDraft::of_event(event, Moment::now()));
        }
    }

    /// Makes a last attempt to write everything, and closes the file.
    fn end(mut self, items: &Receiver<QueueItem>) {
        self.count_refusals(WindowEnd::Forced);
        loop {
            self.commit();
            if self.retry_at.is_some() {
                break;
            }
            while let Ok(next) = items.try_recv() {
                self.take(next);
                if self.drafts.len() >= LARGEST_BATCH {
                    break;
                }
            }
            if self.drafts.is_empty() {
                break;
            }
        }
        let lost =
            self.shared.waiting.load(Ordering::Relaxed) + self.shared.lost_untold.load(Ordering::Relaxed);
        self.settings.sinks.iter_mut().for_each(|sink| sink.flush());
        self.store.take().into_iter().for_each(LedgerFile::close);
        match self.marker.take().or_else(|| self.late_marker(lost)) {
            Some(marker) if lost == 0 => marker.remove(),
            Some(mut marker) => drop(marker.write(lost)),
            None => {}
        }
        if lost > 0 {
            let fault = Fault::new(&reason::AUDIT_FAILED).note("path", self.path());
            let message = match lost {
                1 => "1 record could not be written and is lost".to_owned(),
                several => format!("{several} records could not be written and are lost"),
            };
            self.journal.note_trouble(&message, "ledger", &fault);
        }
        for done in self.closers.drain(..).chain(closers(items)) {
            let _ = done.try_send(());
        }
    }

    /// A mark for records that are lost although none was written.
    fn late_marker(&self, lost: u64) -> Option<RunMarker> {
        (lost > 0).then(|| RunMarker::place(&self.settings.folder).ok()).flatten()
    }

    fn path(&self) -> String {
        self.settings.folder.join(LedgerSettings::FILE).display().to_string()
    }

    fn succeeded(&mut self) {
        if self.retry_at.take().is_some() {
            self.journal.note_event("the ledger can be written again", "ledger");
        }
        self.shared.broken.store(false, Ordering::Release);
        self.answer(WriteResult::Written(self.last.map_or(0, |last| last.seq)));
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
        // The connection may be the cause: reopen the file next time.
        self.store = None;
        self.retry_at = Some(Instant::now() + RETRY);
        self.shared.broken.store(true, Ordering::Release);
        self.shared.space_freed.notify_waiters();
        self.give_up();
    }

    /// Critical durability: reports to waiting requests that their records are not written.
    fn give_up(&mut self) {
        if self.settings.durability == Durability::Critical {
            self.answer(WriteResult::Failed);
            self.shared.lose(self.records);
            self.forget();
        }
    }

    fn answer(&mut self, result: WriteResult) {
        for waiting in self.waiting.drain(..) {
            // The requester may have timed out.
            let _ = waiting.send(result);
        }
    }

    fn forget(&mut self) {
        self.shared.waiting.fetch_sub(self.records, Ordering::Relaxed);
        self.shared.weight.fetch_sub(self.weight, Ordering::Relaxed);
        self.drafts.clear();
        (self.records, self.weight, self.oldest) = (0, 0, None);
        self.shared.space_freed.notify_waiters();
    }

    /// Applies the retention at its interval, or after many new records.
    fn maintain(&mut self) {
        if Instant::now() < self.prune_at && self.since_pruned < PRUNE_AFTER {
            return;
        }
        let Some(store) = self.store.as_mut() else { return };
        let more = store.prune(&self.settings.retention, Moment::now()).unwrap_or(false);
        self.since_pruned = 0;
        self.prune_at = Instant::now() + if more { Duration::from_millis(100) } else { PRUNE };
    }
}

/// Those who wait for the end and are still in the queue.
fn closers(items: &Receiver<QueueItem>) -> impl Iterator<Item = SyncSender<()>> {
    items.try_iter().filter_map(|item| match item {
        QueueItem::Close(done) | QueueItem::Flush(done) => Some(done),
        QueueItem::Record(..) => None,
    })
}
