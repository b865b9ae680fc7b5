//! The one place that writes to the person at the terminal.

use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::sync::OnceLock;

use crate::complaint::Complaint;

/// Why standard output no longer takes anything. Kept for the end, so that a server whose first words nobody can read
/// goes on serving.
static CLOSED: OnceLock<io::Error> = OnceLock::new();

/// Writes to standard output.
pub(crate) fn print(text: &str) {
    print_bytes(text.as_bytes());
}

/// Writes bytes as they are to standard output.
pub(crate) fn print_bytes(bytes: &[u8]) {
    let mut out = stdout().lock();
    if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
        let _ = CLOSED.set(error);
    }
}

/// Whether nobody can read what is printed any more.
pub(crate) fn is_closed() -> bool {
    CLOSED.get().is_some()
}

/// What to say when something printed was lost. A reader that has gone, as `head` does, is no failure.
pub(crate) fn loss() -> Option<Complaint> {
    let error = CLOSED.get().filter(|error| error.kind() != ErrorKind::BrokenPipe)?;
    Some(Complaint::new(
        format!("standard output cannot be written: {error}"),
        "check where it goes and the space that is left, then run this again",
    ))
}

/// Says on standard error what is wrong and what to do.
pub(crate) fn complain(complaint: &Complaint) {
    let paint = Paint::for_stderr();
    let text =
        format!("{} {}\n{} {}\n", paint.red("error:"), complaint.title, paint.bold("help:"), complaint.help);
    let _ = stderr().write_all(text.as_bytes());
}

/// Writes to standard error, before the complaint that sums it up.
pub(crate) fn report(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}

/// Replaces the progress line on standard error; only a terminal gets one.
pub(crate) fn progress(text: &str) {
    if stderr().is_terminal() {
        let short: String = text.chars().filter(|c| !c.is_control()).take(78).collect();
        let _ = write!(stderr(), "\r\x1b[K{short}");
    }
}

/// Takes the progress line away.
pub(crate) fn end_progress() {
    if stderr().is_terminal() {
        let _ = write!(stderr(), "\r\x1b[K");
    }
}

/// How wide to write: what the shell says, or a width that fits most windows.
pub(crate) fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    said.filter(|columns| (40..=400).contains(columns)).unwrap_or(100)
}

/// Colour, when somebody is there to see it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Colour for standard output.
    pub(crate) fn for_stdout() -> Paint {
        Paint::for_stream(stdout().is_terminal())
    }

    /// Colour for standard error.
    pub(crate) fn for_stderr() -> Paint {
        Paint::for_stream(stderr().is_terminal())
    }

    fn for_stream(is_terminal: bool) -> Paint {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Paint { on: is_terminal && !unwanted && !dumb }
    }

    /// Whether there is colour at all.
    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.with("1;31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
