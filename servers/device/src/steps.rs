//! What was done on a device, step by step: what a report is made of.

use std::time::Duration;

use bytes::Bytes;

/// Everything one session did so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// What the report is called.
    pub title: String,
    /// The device, as the settings name it.
    pub device: String,
    /// What drives it, such as `chromedriver`.
    pub driver: String,
    /// The session's id.
    pub session: String,
    /// When it began, as RFC 3339 in UTC.
    pub began: String,
    /// From the first step to the last.
    pub took: Duration,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Steps that were made before these and are no longer kept.
    pub forgotten: u64,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Counted from one.
    pub number: u64,
    /// The tool.
    pub tool: &'static str,
    /// What it was about, in a few words: a selector, a text, a direction. The app's and the caller's words: escape them.
    pub about: String,
    /// Since the session began.
    pub at: Duration,
    /// How long it took.
    pub took: Duration,
    /// How it ended.
    pub verdict: Verdict,
    /// What there is to say about the end: what an assertion found, or what went wrong. Escape it.
    pub detail: String,
    /// What to do about a failure.
    pub hint: Option<String>,
    /// The reason of a failure, such as `device/TIMEOUT`.
    pub reason: Option<&'static str>,
    /// What the screen looked like.
    pub picture: Option<Picture>,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It was done, or what was asserted holds.
    Passed,
    /// An assertion does not hold, or two pictures differ: a finding.
    Failed,
    /// It could not be done: a failure.
    Broken,
}

impl Verdict {
    /// One word.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Broken => "broken",
        }
    }
}

/// What the screen looked like.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Where it is kept.
    pub uri: String,
    /// The PNG itself, where a report needs it and it is still kept.
    pub png: Option<Bytes>,
}
