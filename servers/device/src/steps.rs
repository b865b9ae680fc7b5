//! The steps of a session, the data of reports.

use std::time::Duration;

use bytes::Bytes;

#[derive(Debug, Clone, PartialEq)]
pub struct SessionHistory {
    /// The title of the report.
    pub title: String,
    /// The configured name of the device.
    pub device: String,
    /// The driver, such as `chromedriver`.
    pub driver: String,
    pub session: String,
    /// The start, as RFC 3339 in UTC.
    pub began: String,
    /// From the first step to the last.
    pub took: Duration,
    pub steps: Vec<Step>,
    /// Number of earlier steps that were evicted.
    pub forgotten: u64,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Counted from one.
    pub number: u64,
    pub tool: &'static str,
    /// The subject in a few words: a selector, a text, a direction. It is text of the app or the caller:
    /// escape it.
    pub about: String,
    /// Time since the start of the session.
    pub at: Duration,
    pub took: Duration,
    pub verdict: Verdict,
    /// The result of an assertion, or the failure. It is foreign text: escape it.
    pub detail: String,
    /// The hint of a failure.
    pub hint: Option<String>,
    /// The reason of a failure, such as `device/TIMEOUT`.
    pub reason: Option<&'static str>,
    pub picture: Option<StepPicture>,
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The action succeeded, or the assertion holds.
    Passed,
    /// An assertion does not hold, or two pictures differ: a finding.
    Failed,
    /// The step failed.
    Broken,
}

impl Verdict {
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Broken => "broken",
        }
    }
}

/// A screenshot of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepPicture {
    pub uri: String,
    /// The PNG file, if a report needs it and it is still stored.
    pub png: Option<Bytes>,
}
