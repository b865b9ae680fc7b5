use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::wire::Wire;

/// The most connections that are kept.
const MOST: usize = 64;
/// How long a connection is kept: less than the five seconds after which common servers hang up, since a request
/// that meets a hang-up cannot be sent again.
const LONGEST: Duration = Duration::from_secs(4);

/// Connections that wait for their next request, the last used first.
#[derive(Default)]
pub(super) struct Idle(Mutex<Vec<(Box<Wire>, Instant)>>);

impl Idle {
    fn lock(&self) -> MutexGuard<'_, Vec<(Box<Wire>, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that can take a request now. Whether the other side hung up meanwhile is looked at here, not before.
    pub(super) fn take(&self) -> Option<Box<Wire>> {
        loop {
            let (mut wire, since) = self.lock().pop()?;
            if since.elapsed() >= LONGEST {
                // Whatever is below it is older still.
                self.lock().retain(|(_, since)| since.elapsed() < LONGEST);
                continue;
            }
            if wire.is_ready() {
                return Some(wire);
            }
        }
    }

    /// Keeps one whose last answer was read to its end.
    pub(super) fn put(&self, wire: Box<Wire>) {
        if !wire.is_over() {
            return;
        }
        let (mut kept, now) = (self.lock(), Instant::now());
        let is_old = |since: &Instant| now.duration_since(*since) >= LONGEST;
        if kept.len() >= MOST || kept.first().is_some_and(|(_, since)| is_old(since)) {
            kept.remove(0);
            kept.retain(|(_, since)| !is_old(since));
        }
        kept.push((wire, now));
    }
}
