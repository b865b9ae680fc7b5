use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::idle_timeouts::IdleTimeouts;

/// A connection with deadlines, so that a client that stops reading or sending does not occupy it without
/// end.
pub(super) struct TimedIo<S> {
    inner: S,
    turns: IdleTimeouts,
    /// Fires occasionally, to check the deadline of the next head.
    bell: Option<Pin<Box<Sleep>>>,
    stalled: Option<Pin<Box<Sleep>>>,
}

/// Maximum time without progress of a write.
const SLOWEST: Duration = Duration::from_secs(30);

impl<S> TimedIo<S> {
    pub(super) fn new(inner: S, turns: IdleTimeouts) -> TimedIo<S> {
        TimedIo { inner, turns, bell: None, stalled: None }
    }

    /// No bytes arrived: checks whether the deadline has passed.
    fn await_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A response that is not fully written has its own deadline.
        if self.stalled.is_some() {
            return Poll::Pending;
        }
        let Some(deadline) = self.turns.deadline() else { return Poll::Pending };
        let bell = self.bell.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        while bell.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            bell.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    fn watch<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            if self.stalled.take().is_some() {
                self.turns.begin_anew();
            }
            return polled;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(SLOWEST)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_read(cx, buffer) {
            Poll::Pending => self.await_head(cx),
            ready => ready,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.watch(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.watch(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_flush(cx);
        self.watch(cx, polled)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.watch(cx, polled)
    }
}
