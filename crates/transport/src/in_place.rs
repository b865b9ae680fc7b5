//! Futures that are polled in place first: most of them are ready soon, so that they need no timer and no task.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use failwell_render::Reply;
use tokio_util::sync::{CancellationToken, ReusableBoxFuture};

/// Waits for a future with a timeout; `None` on expiry. Most futures here are ready at once, and then no
/// timer is created.
pub async fn within<T>(patience: Duration, mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
        Poll::Ready(done) => Some(done),
        Poll::Pending => tokio::time::timeout(patience, work).await.ok(),
    }
}

/// A boxed future whose allocation can be reused.
type Work<T> = ReusableBoxFuture<'static, T>;

/// Maximum number of spare allocations per thread.
const MOST_SPARE: usize = 32;

thread_local! {
    /// Allocations of finished futures. Request futures are large and of equal size, so reuse is cheaper than
    /// the allocator.
    static SPARE: RefCell<Vec<Work<Option<Reply>>>> = const { RefCell::new(Vec::new()) };
}

/// A future that is polled in place while the client waits, and is spawned as a task when the client
/// disconnects.
///
/// In a session a lost connection does not cancel the request, so the work continues. In the modern era it
/// does, so the work is cancelled first. In both cases the work completes and is recorded.
pub(crate) struct Persist<T: Send + 'static> {
    work: Option<Work<T>>,
    is_done: bool,
    cancel_when_left: Option<CancellationToken>,
}

impl<T: Send + 'static> Persist<T> {
    pub(crate) fn new(
        work: impl Future<Output = T> + Send + 'static,
        cancel_when_left: Option<CancellationToken>,
    ) -> Persist<T> {
        Persist { work: Some(Work::new(work)), is_done: false, cancel_when_left }
    }

    /// Takes the future out, to be spawned by the caller.
    pub(crate) fn take(mut self) -> Option<impl Future<Output = T> + Send + use<T>> {
        self.work.take()
    }
}

impl Persist<Option<Reply>> {
    /// Creates the future in a spare allocation, if there is one.
    pub(crate) fn reusing(
        work: impl Future<Output = Option<Reply>> + Send + 'static,
        cancel_when_left: Option<CancellationToken>,
    ) -> Persist<Option<Reply>> {
        let Some(mut place) = SPARE.with_borrow_mut(Vec::pop) else {
            return Persist::new(work, cancel_when_left);
        };
        place.set(work);
        Persist { work: Some(place), is_done: false, cancel_when_left }
    }

    /// Returns the allocation of finished work for reuse.
    pub(crate) fn leave(mut self) {
        let place = self.work.take_if(|_| self.is_done);
        SPARE.with_borrow_mut(|spare| spare.extend(place.filter(|_| spare.len() < MOST_SPARE)));
    }
}

impl<T: Send + 'static> Future for Persist<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let is_done = self.is_done;
        let Some(work) = self.work.as_mut().filter(|_| !is_done) else { return Poll::Pending };
        let polled = work.poll(cx);
        self.is_done = polled.is_ready();
        polled
    }
}

impl<T: Send + 'static> Drop for Persist<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take_if(|_| !self.is_done) else { return };
        if let Some(cancel) = &self.cancel_when_left {
            cancel.cancel();
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(work);
        }
    }
}
