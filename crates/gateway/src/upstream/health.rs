//! Recent failures of an upstream, and the back-off after them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_backoff::Backoff;
use failwell_fault::{Fact, Fault, Retry, reason};
use failwell_toolbox::ServerFeatures;

use crate::upstream::connection::DetectedProtocol;

const LONGEST_WAIT: Duration = Duration::from_secs(30);
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(250), LONGEST_WAIT);

#[derive(Default)]
pub(super) struct Health {
    pub(super) failures: u32,
    pub(super) open_until: Option<Instant>,
    /// No caller asked for the next start: if it fails, the next caller tries again at once.
    pub(super) unattended: bool,
    /// When the last start timed out; `None` if it failed otherwise.
    pub(super) late: Option<Instant>,
    pub(super) known: Option<DetectedProtocol>,
    /// The offers in its last handshake.
    pub(super) offers: Option<ServerFeatures>,
    /// The instructions from its last handshake.
    pub(super) instructions: Option<Arc<str>>,
}

impl Health {
    pub(super) fn failed(&mut self, fault: &Fault) -> Duration {
        if std::mem::take(&mut self.unattended) {
            self.known = None;
            return Duration::ZERO;
        }
        self.failures += 1;
        self.known = None;
        self.late = (*fault.reason() == reason::GATEWAY_UPSTREAM_STARTING).then(Instant::now);
        let wait = BACKOFF.delay(self.failures).max(retry_after_hint(fault));
        self.open_until = Some(Instant::now() + wait);
        wait
    }
}

/// The `Retry-After` of an upstream that rejected the connection.
fn retry_after_hint(fault: &Fault) -> Duration {
    match (fault.get("status"), fault.retry()) {
        (Some(Fact::Unsigned(429 | 503)), Retry::After(wait)) => wait.min(LONGEST_WAIT),
        _ => Duration::ZERO,
    }
}
