//! The log of what was asked.

use std::time::Duration;

use failwell_emulator_props::Counted;
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

impl Counted for Call {
    const MOST: usize = 10_000;

    fn count(&mut self, number: u64) {
        self.number = number;
    }
}

/// The largest body that is kept with a call, in bytes.
pub(crate) const LARGEST_KEPT: usize = 4_096;
