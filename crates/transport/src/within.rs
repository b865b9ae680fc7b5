use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

/// Waits for a future with a timeout; `None` on expiry. Most futures here are ready at once, and then no
/// timer is created.
pub async fn within<T>(patience: Duration, mut work: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await {
        Poll::Ready(done) => Some(done),
        Poll::Pending => tokio::time::timeout(patience, work).await.ok(),
    }
}
