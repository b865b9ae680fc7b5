//! What becomes of running requests at shutdown.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The time to end requests and write their responses, after the grace period.
pub(crate) const FLUSH: Duration = Duration::from_secs(2);
/// Interval of checks whether all requests have their response. Requests would pay for a signal.
const LOOK: Duration = Duration::from_millis(5);

/// The fate of the requests that were running when the shutdown began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShutdownReport {
    /// Requests that were running.
    pub running: usize,
    /// Requests that the end of the grace period ended, with `server/SHUTDOWN`.
    pub ended: usize,
    /// Requests whose response could not be made or written in time.
    pub undelivered: usize,
}

/// Waits until `is_done`, for a limited time. Returns whether it is.
pub(crate) async fn settle(patience: Duration, is_done: impl Fn() -> bool) -> bool {
    let until = Instant::now() + patience;
    while !is_done() {
        if Instant::now() >= until {
            return false;
        }
        sleep(LOOK).await;
    }
    true
}
