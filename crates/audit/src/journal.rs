use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};

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
}

#[derive(Debug)]
enum Line {
    Text(String),
    Flush(SyncSender<()>),
}

impl Journal {
    const LONGEST_QUEUE: usize = 4_096;

    /// Writes to standard error: text when a person watches, JSON otherwise.
    pub fn to_stderr() -> Journal {
        let style = if std::io::stderr().is_terminal() { Style::Text } else { Style::Json };
        Journal::to(style, std::io::stderr())
    }

    /// Writes anywhere. The thread ends when the last handle is gone.
    pub fn to(style: Style, mut sink: impl Write + Send + 'static) -> Journal {
        let (queue, lines) = sync_channel::<Line>(Self::LONGEST_QUEUE);
        // A thread that cannot be started leaves a queue nobody reads: lines are then counted as lost.
        let _ = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            for line in lines {
                match line {
                    Line::Text(text) => {
                        let _ = writeln!(sink, "{text}");
                    }
                    Line::Flush(done) => {
                        let _ = sink.flush();
                        let _ = done.try_send(());
                    }
                }
            }
        });
        Journal { style, queue, lost: Arc::default() }
    }

    /// How lines should look.
    pub fn style(&self) -> Style {
        self.style
    }

    /// Adds a line. Never waits.
    pub fn write(&self, line: String) {
        match self.queue.try_send(Line::Text(line)) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// How many lines did not fit.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits, at most a second, until everything written so far is out.
    pub fn flush(&self) {
        let (done, wait) = sync_channel(1);
        if self.queue.try_send(Line::Flush(done)).is_ok() {
            let _ = wait.recv_timeout(std::time::Duration::from_secs(1));
        }
    }
}
