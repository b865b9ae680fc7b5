//! Whose turn it is on a connection: its client's, to send the head of a request, or ours, to answer it.
//!
//! Only the client's turn has a limit here. It is written down as a time, and the timer of the connection looks at it
//! when it rings, so that a request costs no timer.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::{Body, Frame, SizeHint};
use tokio::time::Instant;

/// It is our turn.
const OURS: u64 = u64::MAX;

/// The turns of one connection.
#[derive(Debug, Clone)]
pub(super) struct Turns(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    begun: Instant,
    limit: Duration,
    /// Milliseconds from the beginning until it was the client's turn.
    since: AtomicU64,
}

/// Our turn; over when this is dropped.
pub(super) struct Turn(Turns);

impl Turns {
    /// The client begins, and has so long for each head.
    pub(super) fn new(limit: Duration) -> Turns {
        Turns(Arc::new(Inner { begun: Instant::now(), limit, since: AtomicU64::new(0) }))
    }

    /// A head has come.
    pub(super) fn take(&self) -> Turn {
        self.0.since.store(OURS, Ordering::Relaxed);
        Turn(self.clone())
    }

    /// The client's turn, if it is that, begins now: the last answer is only just on its way.
    pub(super) fn begin_anew(&self) {
        let inner = &self.0;
        if inner.since.load(Ordering::Relaxed) != OURS {
            inner.since.store(inner.now(), Ordering::Relaxed);
        }
    }

    /// Until when a head must have come; `None` when it is our turn.
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
    /// Milliseconds since the beginning.
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(0)
    }
}

/// A body that is our turn until all of it is sent.
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
