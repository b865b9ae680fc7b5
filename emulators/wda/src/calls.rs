//! The log of what was asked.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

/// One request.
#[derive(Debug, Clone, Serialize)]
pub struct Call {
    /// Counted from 1.
    pub number: u64,
    /// Method and path, without the part that names the session.
    pub command: String,
    /// What was sent with it, as far as it is small.
    pub body: Value,
    /// When it arrived, since the emulator started.
    pub since_start: Duration,
    /// What it came to: `ok`, the name of an error, or what was asked for, such as `hang`.
    pub outcome: String,
}

/// How many are kept.
const MOST: usize = 10_000;
/// The largest body that is kept with a call, in bytes.
pub(crate) const LARGEST_KEPT: usize = 4_096;

#[derive(Debug, Default)]
pub(crate) struct Calls {
    all: VecDeque<Call>,
    count: u64,
}

impl Calls {
    pub(crate) fn push(&mut self, mut call: Call) {
        self.count += 1;
        call.number = self.count;
        if self.all.len() >= MOST {
            self.all.pop_front();
        }
        self.all.push_back(call);
    }

    pub(crate) fn all(&self) -> Vec<Call> {
        self.all.iter().cloned().collect()
    }

    pub(crate) fn clear(&mut self) {
        self.all.clear();
    }
}
