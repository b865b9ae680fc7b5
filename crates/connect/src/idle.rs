use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::wire::Wire;

/// Maximum number of idle connections.
const MOST: usize = 64;
/// Maximum idle time. It is below the five seconds after which common servers close, because a request that
/// meets a closed connection cannot be resent.
const LONGEST: Duration = Duration::from_secs(4);

/// Idle connections. The most recently used one is taken first.
#[derive(Default)]
pub(super) struct IdleConnections(Mutex<Vec<(Box<Wire>, Instant)>>);

impl IdleConnections {
    /// Takes a connection that is ready for a request. Checks only now whether the server has closed it.
    pub(super) fn take(&self) -> Option<Box<Wire>> {
        loop {
            let (mut wire, since) = self.0.lock().pop()?;
            if since.elapsed() >= LONGEST {
                // All connections before it are older.
                self.0.lock().retain(|(_, since)| since.elapsed() < LONGEST);
                continue;
            }
            if wire.is_ready() {
                return Some(wire);
            }
        }
    }

    /// Stores a connection whose last response was read completely.
    pub(super) fn put(&self, wire: Box<Wire>) {
        if !wire.is_over() {
            return;
        }
        let (mut connections, now) = (self.0.lock(), Instant::now());
        let is_old = |since: &Instant| now.duration_since(*since) >= LONGEST;
        if connections.len() >= MOST || connections.first().is_some_and(|(_, since)| is_old(since)) {
            connections.remove(0);
            connections.retain(|(_, since)| !is_old(since));
        }
        connections.push((wire, now));
    }
}
