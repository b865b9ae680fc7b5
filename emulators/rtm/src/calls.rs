//! The log of what was asked.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

/// One request to the REST endpoint.
#[derive(Debug, Clone, Serialize)]
pub struct Call {
    /// Counted from 1.
    pub number: u64,
    /// The method, as it was asked for.
    pub method: String,
    /// All parameters.
    pub params: BTreeMap<String, String>,
    /// When it arrived, by the emulator's clock.
    pub at: Timestamp,
    /// When it arrived, since the emulator started, by a clock that cannot be set.
    pub since_start: Duration,
    /// How long the rate limit held it back.
    pub held_back: Duration,
    /// What it came to: `ok`, a code of the service, or what was asked for, such as `reset`.
    pub outcome: String,
    /// Whether the method ran and did what it does.
    pub committed: bool,
}

/// How many are kept.
const MOST: usize = 100_000;

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
