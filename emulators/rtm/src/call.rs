//! One entry of the call log.

use std::collections::BTreeMap;
use std::time::Duration;

use failwell_emulator_http::LoggedCall;
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
    /// The outcome: `ok`, an error code of the service, or the injected fault, such as `reset`.
    pub outcome: String,
    /// Whether the method ran and did what it does.
    pub committed: bool,
}

impl LoggedCall for Call {
    const MOST: usize = 100_000;

    fn set_number(&mut self, number: u64) {
        self.number = number;
    }
}
