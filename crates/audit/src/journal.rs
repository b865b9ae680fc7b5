use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_render::Moment;
use serde_json::json;

use crate::entry::{Entry, Telling};
use crate::printable::printable;
use crate::record::weight;
use crate::redact::{Redact, Redactor};
use crate::sighting::Sighting;

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// One JSON object, for programs.
    Json,
    /// One readable line, for people.
    Text,
}

/// Where lines go: a bounded queue, and a thread that writes.
#[derive(Debug, Clone)]
pub struct Journal {
    style: Style,
    queue: SyncSender<Line>,
    lost: Arc<AtomicU64>,
    /// Bytes the failures in the queue hold.
    weight: Arc<AtomicUsize>,
    redact: Redact,
}

#[derive(Debug)]
enum Line {
    Text(String),
    Fault(Box<Entry>, usize, Redact),
    Flush(SyncSender<()>),
}

impl Journal {
    const LONGEST_QUEUE: usize = 4_096;
    /// Bytes of what children and upstreams said that wait at the most; past it a line does without.
    const HEAVIEST_QUEUE: usize = 8 << 20;
    /// How long the last lines may take.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// Writes to standard error: text when a person watches, JSON otherwise.
    pub fn to_stderr() -> Journal {
        let style = if std::io::stderr().is_terminal() { Style::Text } else { Style::Json };
        Journal::to(style, std::io::stderr())
    }

    /// Writes anywhere. The thread ends when the last handle is gone.
    pub fn to(style: Style, mut sink: impl Write + Send + 'static) -> Journal {
        let (queue, lines) = sync_channel::<Line>(Self::LONGEST_QUEUE);
        let waiting = Arc::new(AtomicUsize::new(0));
        let weight = waiting.clone();
        // A thread that cannot be started leaves a queue nobody reads: lines are then counted as lost.
        let _ = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            for line in lines {
                match line {
                    Line::Text(text) => {
                        let _ = writeln!(sink, "{text}");
                    }
                    Line::Fault(entry, weight, redact) => {
                        let _ = writeln!(sink, "{}", entry.line(style, &redact, Telling::Whole));
                        drop(entry);
                        waiting.fetch_sub(weight, Ordering::Relaxed);
                    }
                    Line::Flush(done) => {
                        let _ = sink.flush();
                        let _ = done.try_send(());
                    }
                }
            }
        });
        Journal { style, queue, lost: Arc::default(), weight, redact: Redact::new(Arc::new(str::to_owned)) }
    }

    /// The same journal, with secrets taken out of what this handle writes.
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor) -> Journal {
        self.redact = Redact::new(redactor);
        self
    }

    /// Something a content guard found.
    pub fn sighting(&self, sighting: &Sighting<'_>) {
        self.write(sighting.line(self.style, &self.redact));
    }

    /// Adds a line of our own words. Never waits.
    pub fn write(&self, line: String) {
        self.put(Line::Text(line));
    }

    /// Adds a failure. Never waits.
    pub fn fault(&self, entry: Entry) {
        let weight = weight(&entry.fault);
        let before = self.weight.fetch_add(weight, Ordering::Relaxed);
        if weight > 0 && before + weight > Self::HEAVIEST_QUEUE {
            self.weight.fetch_sub(weight, Ordering::Relaxed);
            return self.write(entry.line(self.style, &self.redact, Telling::Brief));
        }
        if !self.put(Line::Fault(Box::new(entry), weight, self.redact.clone())) {
            self.weight.fetch_sub(weight, Ordering::Relaxed);
        }
    }

    /// Something happened that belongs to no request.
    pub(crate) fn note_event(&self, message: &str, service: &str) {
        let now = Moment::now();
        self.write(match self.style {
            Style::Json => {
                json!({"timestamp": now.to_string(), "level": "info", "message": message, "service": service})
                    .to_string()
            }
            Style::Text => format!("{now} info  {service} {message}"),
        });
    }

    /// Something went wrong that belongs to no request.
    pub(crate) fn note_trouble(&self, message: &str, service: &str, fault: &Fault) {
        let (now, id) = (Moment::now(), fault.reason().id);
        let mut causes = fault.operator().causes();
        causes.extend(fault.operator().notes().iter().map(|(name, note)| format!("{name}: {note}")));
        let causes = self.redact.text(&causes.join(": "), usize::MAX);
        self.write(match self.style {
            Style::Json => json!({"timestamp": now.to_string(), "level": "error", "message": message,
                "service": service, "error_message": causes, "reason": id})
            .to_string(),
            Style::Text => printable(&format!("{now} error {service} [{id}] {message}: {causes}")),
        });
    }

    /// Whether it fitted.
    fn put(&self, line: Line) -> bool {
        let fits = self.queue.try_send(line).is_ok();
        if !fits {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        fits
    }

    /// How many lines did not fit.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits, at most [`Self::PATIENCE`], until everything written so far is out.
    pub fn flush(&self) {
        let end = Instant::now() + Self::PATIENCE;
        let (done, wait) = sync_channel(1);
        let mut line = Line::Flush(done);
        // A full queue takes the wish as soon as there is room.
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
