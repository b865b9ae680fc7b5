use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;

/// The most connections that are kept.
const MOST: usize = 64;
/// How long a connection is kept: less than the five seconds after which common servers hang up, since a request
/// that meets a hang-up cannot be sent again.
const LONGEST: Duration = Duration::from_secs(4);
/// How long a connection whose last answer was read may take to be ready again.
const SETTLE: Duration = Duration::from_millis(50);

/// Connections that wait for their next request, the last used first.
#[derive(Default)]
pub(super) struct Idle(Mutex<Vec<(SendRequest<Full<Bytes>>, Instant)>>);

impl Idle {
    fn lock(&self) -> MutexGuard<'_, Vec<(SendRequest<Full<Bytes>>, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn take(&self) -> Option<SendRequest<Full<Bytes>>> {
        loop {
            let (mut sender, since) = self.lock().pop()?;
            if since.elapsed() >= LONGEST {
                // Whatever is below it is older still.
                self.lock().retain(|(_, since)| since.elapsed() < LONGEST);
                continue;
            }
            if sender.is_closed() {
                continue;
            }
            if sender.is_ready() || matches!(tokio::time::timeout(SETTLE, sender.ready()).await, Ok(Ok(()))) {
                return Some(sender);
            }
        }
    }

    pub(super) fn put(&self, sender: SendRequest<Full<Bytes>>) {
        if sender.is_closed() {
            return;
        }
        let mut kept = self.lock();
        if kept.len() >= MOST {
            kept.remove(0);
        }
        kept.push((sender, Instant::now()));
    }
}
