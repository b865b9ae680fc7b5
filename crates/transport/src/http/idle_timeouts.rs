//! The idle timeout of a connection, while the server waits for the head of the next request.
//!
//! The timeout does not apply while a request is served. It is stored as a time that the connection's timer
//! checks when it fires, so that a request needs no timer.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use tokio::time::Instant;

/// A request is being served.
const OURS: u64 = u64::MAX;

#[derive(Debug, Clone)]
pub(super) struct IdleTimeouts(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    begun: Instant,
    limit: Duration,
    /// The start of the wait for a head, in milliseconds since `begun`.
    since: AtomicU64,
}

/// Suspends the timeout until it is dropped.
pub(super) struct Turn(IdleTimeouts);

impl IdleTimeouts {
    /// Starts the timeout. Each request head has `limit`.
    pub(super) fn new(limit: Duration) -> IdleTimeouts {
        IdleTimeouts(Arc::new(Inner { begun: Instant::now(), limit, since: AtomicU64::new(0) }))
    }

    /// Suspends the timeout, because a head has arrived.
    pub(super) fn take(&self) -> Turn {
        self.0.since.store(OURS, Ordering::Relaxed);
        Turn(self.clone())
    }

    /// Restarts a running timeout, because the last response has only just been written.
    pub(super) fn begin_anew(&self) {
        let inner = &self.0;
        if inner.since.load(Ordering::Relaxed) != OURS {
            inner.since.store(inner.now(), Ordering::Relaxed);
        }
    }

    /// The deadline of the next head; `None` while a request is served.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let since = Some(self.0.since.load(Ordering::Relaxed)).filter(|since| *since != OURS);
        since.map(|since| self.0.begun + Duration::from_millis(since) + self.0.limit)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let inner = &self.0.0;
        inner.since.store(inner.now(), Ordering::Relaxed);
    }
}

impl Inner {
    /// Milliseconds since `begun`.
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(0)
    }
}

/// A body that suspends the timeout until it is sent.
pub(super) struct InTurn<B> {
    pub(super) body: B,
    #[expect(dead_code, reason = "held for its drop")]
    pub(super) turn: Turn,
}

impl<B: Body + Unpin> Body for InTurn<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
