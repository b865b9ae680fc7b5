//! One entry of the call log.

use std::time::Duration;

use failwell_emulator_http::LoggedCall;
use serde::Serialize;
use serde_json::Value;

/// One request.
#[derive(Debug, Clone, Serialize)]
pub struct Call {
    /// Counted from 1.
    pub number: u64,
    /// Method and path, without the part that names the session.
    pub command: String,
    /// The request body; null when it is large.
    pub body: Value,
    /// When it arrived, since the emulator started.
    pub since_start: Duration,
    /// The outcome: `ok`, the name of an error, or the injected fault, such as `hang`.
    pub outcome: String,
}

impl LoggedCall for Call {
    const MOST: usize = 10_000;

    fn set_number(&mut self, number: u64) {
        self.number = number;
    }
}

/// The largest body that is kept with a call, in bytes.
pub(crate) const LARGEST_KEPT: usize = 4_096;
