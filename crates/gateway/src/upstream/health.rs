//! Recent failures of an upstream, and the back-off after them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_backoff::Backoff;
use failwell_toolbox::ServerFeatures;

use crate::upstream::connection::{DetectedProtocol, StartError};

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
    pub(super) fn failed(&mut self, error: &StartError) -> Duration {
        if std::mem::take(&mut self.unattended) {
            self.known = None;
            return Duration::ZERO;
        }
        self.failures += 1;
        self.known = None;
        let (late, asked) = match error {
            StartError::Late(_) => (Some(Instant::now()), None),
            StartError::Failed { retry_after, .. } => (None, *retry_after),
        };
        self.late = late;
        let wait = BACKOFF.delay(self.failures).max(asked.unwrap_or_default().min(LONGEST_WAIT));
        self.open_until = Some(Instant::now() + wait);
        wait
    }
}
