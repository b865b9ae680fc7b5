//! The events of one run, as the plugin tells them: one JSON object per line.

use serde::Deserialize;

/// A line longer than this is not one of ours.
pub(crate) const LONGEST_LINE: usize = 1024 * 1024;

/// One event.
#[derive(Debug, Deserialize)]
#[serde(tag = "e", rename_all = "snake_case")]
pub(crate) enum Event {
    /// The interpreter is running.
    Python { version: String, executable: String },
    /// pytest is not there, or does not load.
    NoPytest { msg: String, missing: bool },
    /// A plugin that was asked for is not there.
    Lacks { what: String },
    /// pytest is configured.
    Hello { pytest: String },
    /// A file, a folder or a conftest did not collect.
    CollectError {
        id: String,
        path: Option<String>,
        #[serde(rename = "type")]
        kind: String,
        msg: String,
        line: Option<u64>,
        tb: String,
    },
    /// Collection is over.
    Collected { n: u64, deselected: u64 },
    /// One collected test, when they were asked for.
    Item {
        id: String,
        module: String,
        class: Option<String>,
        function: String,
        file: String,
        line: Option<u64>,
    },
    /// A test begins.
    Start { id: String },
    /// A test is over.
    Test(Told),
    /// Something ended the session early.
    Interrupt {
        #[serde(rename = "type")]
        kind: String,
        msg: String,
    },
    /// pytest itself failed.
    Internal {
        #[serde(rename = "type")]
        kind: String,
        text: String,
    },
    /// The session is over.
    Finish { code: i32 },
    /// pytest returned.
    Exit { code: i32 },
    /// The plugin tripped over something; the run goes on.
    Trouble { hook: String, problem: String },
}

/// What the plugin tells of one test.
#[derive(Debug, Deserialize)]
pub(crate) struct Told {
    pub(crate) id: String,
    #[serde(rename = "o")]
    pub(crate) outcome: Outcome,
    #[serde(rename = "d")]
    pub(crate) duration: f64,
    pub(crate) phase: Option<String>,
    pub(crate) msg: Option<String>,
    pub(crate) tb: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) line: Option<u64>,
    pub(crate) also: Option<String>,
    #[serde(default)]
    pub(crate) sections: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) subtests: u64,
    #[serde(default)]
    pub(crate) subfailed: u64,
}

/// How a test ended, as finely as pytest knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Error,
    Skipped,
    Xfailed,
    Xpassed,
}

impl Outcome {
    /// The four words of the contract. An expected failure was, in effect, skipped; an unexpected pass passed.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Outcome::Passed | Outcome::Xpassed => "passed",
            Outcome::Failed => "failed",
            Outcome::Error => "error",
            Outcome::Skipped | Outcome::Xfailed => "skipped",
        }
    }

    /// Whether somebody has to look at it.
    pub(crate) fn is_bad(self) -> bool {
        matches!(self, Outcome::Failed | Outcome::Error)
    }
}

/// Cuts bytes into lines, without trusting their length.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rest: Vec<u8>,
    overlong: bool,
}

impl Lines {
    /// Takes bytes, gives the lines they complete.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.overlong {
                self.rest.extend_from_slice(part);
            }
            self.overlong |= self.rest.len() > LONGEST_LINE;
            if part.ends_with(b"\n") {
                if !self.overlong {
                    lines.push(String::from_utf8_lossy(&self.rest).trim_end().to_owned());
                }
                self.rest.clear();
                self.overlong = false;
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_LINE, Lines};

    #[test]
    fn lines_come_whole_or_not_at_all() {
        let mut lines = Lines::default();
        assert!(lines.take(b"{\"a\":").is_empty());
        assert_eq!(lines.take(b"1}\nnext\npart"), ["{\"a\":1}", "next"]);
        assert_eq!(lines.take(b"\n"), ["part"]);
        for _ in 0..3 {
            assert!(lines.take(&vec![b'x'; LONGEST_LINE]).is_empty());
        }
        assert_eq!(lines.take(b"end\nafter\n"), ["after"]);
    }
}
