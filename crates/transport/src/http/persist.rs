use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio_util::sync::CancellationToken;

/// Work that is done in place while somebody waits for it, and seen to its end elsewhere when nobody does.
///
/// In a session a lost connection does not cancel, so the work goes on as it was; in the modern era it does, so
/// the work is told first. Either way it ends, and is written down.
pub(super) struct Persist<T: Send + 'static> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    cancel_when_left: Option<CancellationToken>,
}

impl<T: Send + 'static> Persist<T> {
    pub(super) fn new(
        work: impl Future<Output = T> + Send + 'static,
        cancel_when_left: Option<CancellationToken>,
    ) -> Persist<T> {
        Persist { work: Some(Box::pin(work)), cancel_when_left }
    }

    /// Takes the work out, to be seen to by somebody else.
    pub(super) fn take(mut self) -> Option<Pin<Box<dyn Future<Output = T> + Send>>> {
        self.work.take()
    }
}

impl<T: Send + 'static> Future for Persist<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(work) = self.work.as_mut() else { return Poll::Pending };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl<T: Send + 'static> Drop for Persist<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        if let Some(cancel) = &self.cancel_when_left {
            cancel.cancel();
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(work);
        }
    }
}
