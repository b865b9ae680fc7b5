//! The journal: a bounded queue, and a thread that writes.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_render::Moment;
use serde_json::json;

use crate::entry::{Entry, EntryDetail};
use crate::fault_report::weight;
use crate::guard_notice::GuardNotice;
use crate::printable::printable;
use crate::redact::{Redactor, TextRedactor};
use crate::server_notice::ServerNotice;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogStyle {
    /// One JSON object per line, for programs.
    Json,
    /// One readable line, for people.
    Text,
}

/// The operator's log: a bounded queue, and a thread that writes it.
#[derive(Debug, Clone)]
pub struct Journal {
    style: LogStyle,
    queue: SyncSender<JournalItem>,
    lost: Arc<AtomicU64>,
    /// Bytes held by the failures in the queue.
    weight: Arc<AtomicUsize>,
    redact: TextRedactor,
}

#[derive(Debug)]
enum JournalItem {
    Text(String),
    Fault(Box<Entry>, usize, TextRedactor),
    Flush(SyncSender<()>),
}

impl Journal {
    const LONGEST_QUEUE: usize = 4_096;
    /// Maximum bytes of child and upstream output in the queue. Beyond it, a line omits that output.
    const HEAVIEST_QUEUE: usize = 8 << 20;
    /// Maximum time for a flush.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// Writes to standard error: as text on a terminal, as JSON otherwise.
    pub fn to_stderr() -> Journal {
        let style = if std::io::stderr().is_terminal() { LogStyle::Text } else { LogStyle::Json };
        Journal::to(style, std::io::stderr())
    }

    /// Writes to any sink. The thread ends when the last handle is dropped.
    pub fn to(style: LogStyle, mut sink: impl Write + Send + 'static) -> Journal {
        let (queue, lines) = sync_channel::<JournalItem>(Self::LONGEST_QUEUE);
        let waiting = Arc::new(AtomicUsize::new(0));
        let weight = waiting.clone();
        // If the thread cannot start, the queue fills up and lines are counted as lost.
        let _ = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            for line in lines {
                match line {
                    JournalItem::Text(text) => {
                        let _ = writeln!(sink, "{text}");
                    }
                    JournalItem::Fault(entry, weight, redact) => {
                        let _ = writeln!(sink, "{}", entry.line(style, &redact, EntryDetail::Whole));
                        drop(entry);
                        waiting.fetch_sub(weight, Ordering::Relaxed);
                    }
                    JournalItem::Flush(done) => {
                        let _ = sink.flush();
                        let _ = done.try_send(());
                    }
                }
            }
        });
        Journal {
            style,
            queue,
            lost: Arc::default(),
            weight,
            redact: TextRedactor::new(Arc::new(str::to_owned)),
        }
    }

    /// Returns a handle that redacts secrets in the lines it writes.
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor) -> Journal {
        self.redact = TextRedactor::new(redactor);
        self
    }

    /// Logs a finding of a content guard.
    pub fn note_guard(&self, sighting: &GuardNotice<'_>) {
        self.write(sighting.line(self.style, &self.redact));
    }

    /// Logs that a server started or ended.
    pub fn note_server(&self, change: &ServerNotice<'_>) {
        self.write(change.line(self.style, &self.redact));
    }

    /// Adds a line without foreign text. Never blocks.
    pub fn write(&self, line: String) {
        self.put(JournalItem::Text(line));
    }

    /// Adds a failure. Never blocks.
    pub fn fault(&self, entry: Entry) {
        let weight = weight(&entry.fault);
        let before = self.weight.fetch_add(weight, Ordering::Relaxed);
        if weight > 0 && before + weight > Self::HEAVIEST_QUEUE {
            self.weight.fetch_sub(weight, Ordering::Relaxed);
            return self.write(entry.line(self.style, &self.redact, EntryDetail::Brief));
        }
        if !self.put(JournalItem::Fault(Box::new(entry), weight, self.redact.clone())) {
            self.weight.fetch_sub(weight, Ordering::Relaxed);
        }
    }

    /// Logs an event that belongs to no request.
    pub fn note_event(&self, message: &str, service: &str) {
        self.note("info", message, service);
    }

    /// Logs an event that belongs to no request and that the operator should look into.
    pub fn note_warning(&self, message: &str, service: &str) {
        self.note("warn", message, service);
    }

    fn note(&self, level: &str, message: &str, service: &str) {
        let now = Moment::now();
        self.write(match self.style {
            LogStyle::Json => {
                json!({"timestamp": now.to_string(), "level": level, "message": message, "service": service})
                    .to_string()
            }
            LogStyle::Text => format!("{now} {level:<5} {service} {message}"),
        });
    }

    /// Logs a failure that belongs to no request.
    pub fn note_trouble(&self, message: &str, service: &str, fault: &Fault) {
        let (now, id) = (Moment::now(), fault.reason().id);
        let mut causes = fault.operator().causes();
        causes.extend(fault.operator().notes().iter().map(|(name, note)| format!("{name}: {note}")));
        let causes = self.redact.text(&causes.join(": "), usize::MAX);
        self.write(match self.style {
            LogStyle::Json => json!({"timestamp": now.to_string(), "level": "error", "message": message,
                "service": service, "error_message": causes, "reason": id})
            .to_string(),
            LogStyle::Text => printable(&format!("{now} error {service} [{id}] {message}: {causes}")),
        });
    }

    /// Returns true if the queue had space.
    fn put(&self, line: JournalItem) -> bool {
        let fits = self.queue.try_send(line).is_ok();
        if !fits {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        fits
    }

    /// Number of lines that did not fit into the queue.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until all lines so far are written, for at most `PATIENCE`.
    pub fn flush(&self) {
        let end = Instant::now() + Self::PATIENCE;
        let (done, wait) = sync_channel(1);
        let mut line = JournalItem::Flush(done);
        // A full queue accepts the flush request after the next write.
        while let Err(TrySendError::Full(back)) = self.queue.try_send(line) {
            if Instant::now() >= end {
                return;
            }
            line = back;
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = wait.recv_timeout(end.saturating_duration_since(Instant::now()));
    }
}
