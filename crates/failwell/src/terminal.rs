//! The only module that writes to the terminal.

use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::sync::OnceLock;

use crate::complaint::Complaint;

/// The first error of standard output. It is reported at the end, so that a server continues to serve after
/// its output was closed.
static CLOSED: OnceLock<io::Error> = OnceLock::new();

pub(crate) fn print(text: &str) {
    print_bytes(text.as_bytes());
}

pub(crate) fn print_bytes(bytes: &[u8]) {
    let mut out = stdout().lock();
    if let Err(error) = out.write_all(bytes).and_then(|()| out.flush()) {
        let _ = CLOSED.set(error);
    }
}

/// Whether a person reads standard output.
pub(crate) fn is_interactive() -> bool {
    stdout().is_terminal()
}

/// Whether writing to standard output has failed.
pub(crate) fn is_closed() -> bool {
    CLOSED.get().is_some()
}

/// The error for lost output. A closed pipe, as with `head`, is not an error.
pub(crate) fn loss() -> Option<Complaint> {
    let error = CLOSED.get().filter(|error| error.kind() != ErrorKind::BrokenPipe)?;
    Some(Complaint::new(
        format!("standard output cannot be written: {error}"),
        "check where it goes and the space that is left, then run this again",
    ))
}

/// Prints an error and its help to standard error.
pub(crate) fn complain(complaint: &Complaint) {
    let paint = Paint::for_stderr();
    let text =
        format!("{} {}\n{} {}\n", paint.red("error:"), complaint.title, paint.bold("help:"), complaint.help);
    let _ = stderr().write_all(text.as_bytes());
}

/// Prints details to standard error, before the error that sums them up.
pub(crate) fn report(text: &str) {
    let _ = stderr().write_all(text.as_bytes());
}

/// Whether a person types the input.
pub(crate) fn is_typed() -> bool {
    std::io::stdin().is_terminal()
}

/// Whether a person reads standard error.
pub(crate) fn is_read() -> bool {
    stderr().is_terminal()
}

/// Replaces the progress line on standard error. Without a terminal there is none.
pub(crate) fn progress(text: &str) {
    if stderr().is_terminal() {
        let short: String = text.chars().filter(|c| !c.is_control()).take(78).collect();
        let _ = write!(stderr(), "\r\x1b[K{short}");
    }
}

/// Removes the progress line.
pub(crate) fn end_progress() {
    if stderr().is_terminal() {
        let _ = write!(stderr(), "\r\x1b[K");
    }
}

/// The width of the output: `COLUMNS`, otherwise a width that fits most windows.
pub(crate) fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    columns.filter(|columns| (40..=400).contains(columns)).unwrap_or(100)
}

/// Colours for a terminal, unless `NO_COLOR` is set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    pub(crate) fn for_stdout() -> Paint {
        Paint::for_stream(stdout().is_terminal())
    }

    pub(crate) fn for_stderr() -> Paint {
        Paint::for_stream(stderr().is_terminal())
    }

    /// No colours.
    #[cfg(test)]
    pub(crate) fn plain() -> Paint {
        Paint { on: false }
    }

    fn for_stream(is_terminal: bool) -> Paint {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Paint { on: is_terminal && !unwanted && !dumb }
    }

    /// Whether colours are used.
    #[cfg(feature = "probe")]
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
