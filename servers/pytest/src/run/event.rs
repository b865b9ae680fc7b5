//! The events of one run that the plugin sends: one JSON object per line.

use serde::Deserialize;

/// Maximum length of a line.
pub(crate) const LONGEST_LINE: usize = 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(tag = "e", rename_all = "snake_case")]
pub(crate) enum Event {
    /// The interpreter is running.
    Python { version: String, executable: String },
    /// Pytest is missing or does not load.
    NoPytest { msg: String, missing: bool },
    /// A requested plugin is missing.
    Lacks { what: String },
    /// Pytest is configured.
    Hello { pytest: String },
    /// A file, a folder or a conftest could not be collected.
    CollectError {
        id: String,
        path: Option<String>,
        #[serde(rename = "type")]
        kind: String,
        msg: String,
        line: Option<u64>,
        tb: String,
    },
    /// Collection has finished.
    Collected { n: u64, deselected: u64 },
    /// One collected test, if a list was requested.
    Item {
        id: String,
        module: String,
        class: Option<String>,
        function: String,
        file: String,
        line: Option<u64>,
    },
    /// A test has started.
    Start { id: String },
    /// A test has finished.
    Test(TestEvent),
    /// The session was ended early.
    Interrupt {
        #[serde(rename = "type")]
        kind: String,
        msg: String,
    },
    /// An internal error of pytest.
    Internal {
        #[serde(rename = "type")]
        kind: String,
        text: String,
    },
    /// The session has finished.
    Finish { code: i32 },
    /// Pytest returned.
    Exit { code: i32 },
    /// The plugin had an internal error. The run continues.
    Trouble { hook: String, problem: String },
}

/// The data of one test.
#[derive(Debug, Deserialize)]
pub(crate) struct TestEvent {
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

/// The outcome of a test, in the terms of pytest.
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
    /// The four outcomes of the contract. An expected failure counts as skipped, an unexpected pass as
    /// passed.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Outcome::Passed | Outcome::Xpassed => "passed",
            Outcome::Failed => "failed",
            Outcome::Error => "error",
            Outcome::Skipped | Outcome::Xfailed => "skipped",
        }
    }

    pub(crate) fn is_bad(self) -> bool {
        matches!(self, Outcome::Failed | Outcome::Error)
    }
}

/// Splits bytes into lines of bounded length.
#[derive(Debug, Default)]
pub(crate) struct LineSplitter {
    rest: Vec<u8>,
    overlong: bool,
}

impl LineSplitter {
    /// Adds bytes and returns the completed lines.
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
    use super::{LONGEST_LINE, LineSplitter};

    #[test]
    fn lines_come_whole_or_not_at_all() {
        let mut lines = LineSplitter::default();
        assert!(lines.take(b"{\"a\":").is_empty());
        assert_eq!(lines.take(b"1}\nnext\npart"), ["{\"a\":1}", "next"]);
        assert_eq!(lines.take(b"\n"), ["part"]);
        for _ in 0..3 {
            assert!(lines.take(&vec![b'x'; LONGEST_LINE]).is_empty());
        }
        assert_eq!(lines.take(b"end\nafter\n"), ["after"]);
    }
}
