use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Signal;

/// The exit of a child and its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildExit {
    /// The cause of the end.
    pub how: ExitCause,
    /// The exit status of the process. It is also known if the supervisor ended the process.
    pub exit: Option<Exit>,
    pub output: Output,
    /// From start to end, including the cleanup.
    pub took: Duration,
    /// Descendants that could not be killed. The kernel delays a kill only while a process waits for a
    /// device.
    pub survivors: u32,
}

/// The cause of a child's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExitCause {
    /// The child exited with this code.
    Code(i32),
    /// A signal ended the child. It did not come from a limit of the supervisor.
    Signal(Signal),
    /// The wall-clock limit was exceeded.
    TimedOut,
    /// [`Child::stop`](crate::Child::stop) ended it.
    Stopped,
    /// It exceeded a limit that the supervisor enforces.
    OverLimit(Limit),
    /// The supervisor was killed, and the child with it. The exit status is unknown.
    Lost,
}

/// A limit that the supervisor enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// Too many processes at the same time.
    Processes,
}

/// An exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    Code(i32),
    Signal(Signal),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output. Empty if it was piped.
    pub stdout: CapturedOutput,
    /// Standard error.
    pub stderr: CapturedOutput,
}

/// The beginning and the end of an output, as bytes, because it may not be text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// Bytes of the beginning.
    pub head: Vec<u8>,
    /// Bytes of the end. It does not overlap the head.
    pub tail: Vec<u8>,
    /// Total number of bytes written.
    pub total: u64,
}

impl CapturedOutput {
    /// Number of dropped bytes between head and tail.
    pub fn cut(&self) -> u64 {
        let kept = self.head.len().saturating_add(self.tail.len());
        self.total.saturating_sub(u64::try_from(kept).unwrap_or(u64::MAX))
    }

    /// Head and tail concatenated, without a mark for dropped bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.head.as_slice(), self.tail.as_slice()].concat()
    }

    /// Head and tail as text, with a separate line for dropped bytes.
    pub fn text(&self) -> String {
        if self.cut() == 0 {
            return String::from_utf8_lossy(&self.to_bytes()).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        format!("{head}\n[… {} bytes left out …]\n{tail}", self.cut())
    }
}
