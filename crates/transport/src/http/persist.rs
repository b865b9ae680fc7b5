use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use failwell_render::Reply;
use tokio_util::sync::{CancellationToken, ReusableBoxFuture};

/// Work, in a place that can be used again.
type Work<T> = ReusableBoxFuture<'static, T>;

/// The most places a thread keeps for work to come.
const MOST_SPARE: usize = 32;

thread_local! {
    /// Places of work that is done. What a request is made of is large for an allocator that serves several threads, and
    /// one is just like the next.
    static SPARE: RefCell<Vec<Work<Option<Reply>>>> = const { RefCell::new(Vec::new()) };
}

/// Work that is done in place while somebody waits for it, and seen to its end elsewhere when nobody does.
///
/// In a session a lost connection does not cancel, so the work goes on as it was; in the modern era it does, so
/// the work is told first. Either way it ends, and is written down.
pub(super) struct Persist<T: Send + 'static> {
    work: Option<Work<T>>,
    is_done: bool,
    cancel_when_left: Option<CancellationToken>,
}

impl<T: Send + 'static> Persist<T> {
    pub(super) fn new(
        work: impl Future<Output = T> + Send + 'static,
        cancel_when_left: Option<CancellationToken>,
    ) -> Persist<T> {
        Persist { work: Some(Work::new(work)), is_done: false, cancel_when_left }
    }

    /// Takes the work out, to be seen to by somebody else.
    pub(super) fn take(mut self) -> Option<impl Future<Output = T> + Send + use<T>> {
        self.work.take()
    }
}

impl Persist<Option<Reply>> {
    /// The same in the place of some earlier work, where there is one.
    pub(super) fn reusing(
        work: impl Future<Output = Option<Reply>> + Send + 'static,
        cancel_when_left: Option<CancellationToken>,
    ) -> Persist<Option<Reply>> {
        let Some(mut place) = SPARE.with_borrow_mut(Vec::pop) else {
            return Persist::new(work, cancel_when_left);
        };
        place.set(work);
        Persist { work: Some(place), is_done: false, cancel_when_left }
    }

    /// Leaves the place of work that is done to some other.
    pub(super) fn leave(mut self) {
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
