use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Signal;

/// How a child ended, and what it had to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// What ended it.
    pub how: How,
    /// How the process itself went, known also when it was made to.
    pub exit: Option<Exit>,
    /// What it wrote.
    pub output: Output,
    /// From start to end, the clearing up included.
    pub took: Duration,
    /// Processes it started that could not be ended. The system keeps such ones only while they wait for a device.
    pub survivors: u32,
}

/// What ended a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// It ended by itself, with this exit code.
    Code(i32),
    /// A signal ended it that did not come from its supervisor's own limits.
    Signal(Signal),
    /// Its time was up.
    TimedOut,
    /// It was stopped by [`Child::stop`](crate::Child::stop).
    Stopped,
    /// It went past a limit that the supervisor itself watches.
    OverLimit(Limit),
    /// The supervisor was killed. The child was taken down with it; how it ended nobody saw.
    Lost,
}

/// A limit that the supervisor watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// Too many processes at once.
    Processes,
}

/// How a process went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(Signal),
}

/// What a child wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// To standard output; empty when that was piped.
    pub stdout: Captured,
    /// To standard error.
    pub stderr: Captured,
}

/// The beginning and the end of an output, as bytes: nobody promises that it is text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// From the beginning.
    pub head: Vec<u8>,
    /// From the end, without what is in the head already.
    pub tail: Vec<u8>,
    /// Bytes written in all.
    pub total: u64,
}

impl Captured {
    /// Bytes between head and tail that were not kept.
    pub fn cut(&self) -> u64 {
        let kept = self.head.len().saturating_add(self.tail.len());
        self.total.saturating_sub(u64::try_from(kept).unwrap_or(u64::MAX))
    }

    /// What was kept, in one piece; what was cut leaves no trace in it.
    pub fn kept(&self) -> Vec<u8> {
        [self.head.as_slice(), self.tail.as_slice()].concat()
    }

    /// What was kept as text, with a line of its own where something was cut.
    pub fn text(&self) -> String {
        if self.cut() == 0 {
            return String::from_utf8_lossy(&self.kept()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        format!("{head}\n[… {} bytes left out …]\n{tail}", self.cut())
    }
}
