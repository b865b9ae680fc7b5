//! The end of a pipeline: new requests are refused, running ones may finish, and the rest is ended with
//! `server/SHUTDOWN`.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use failwell_fault::{Effect, Fault, reason};
use tokio_util::sync::CancellationToken;

/// The time that a handler has to say what it did, after it was told to stop.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(250);
/// The time after which an exchange ends, even if a stage does not react.
const HARD_END: Duration = Duration::from_millis(500);

/// The progress of a shutdown, and the requests that it concerns.
#[derive(Debug, Default)]
pub(crate) struct Shutdown {
    closing: CancellationToken,
    ending: CancellationToken,
    running: AtomicUsize,
    ended: AtomicUsize,
}

/// An exchange that runs; it counts until it is dropped.
#[derive(Debug)]
pub(crate) struct RunningExchange<'a>(&'a Shutdown);

impl Drop for RunningExchange<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// A task that runs after the response to its request; it counts until it is dropped.
#[derive(Debug)]
pub(crate) struct RunningTask(Arc<Shutdown>);

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Shutdown {
    /// Counts an exchange until the result is dropped.
    pub(crate) fn enter(&self) -> RunningExchange<'_> {
        self.running.fetch_add(1, Ordering::Relaxed);
        RunningExchange(self)
    }

    /// Counts a task until the result is dropped.
    pub(crate) fn enter_task(self: &Arc<Self>) -> RunningTask {
        self.running.fetch_add(1, Ordering::Relaxed);
        RunningTask(self.clone())
    }

    fn leave(&self) {
        self.running.fetch_sub(1, Ordering::Release);
    }

    /// Waits for the end of the grace period. Returns the fault of a task that did not finish.
    pub(crate) async fn end_of_task(&self) -> Fault {
        self.ending.cancelled().await;
        self.explain(stopped(), true)
    }

    pub(crate) fn closing(&self) -> &CancellationToken {
        &self.closing
    }

    /// Set when the grace period is over.
    pub(crate) fn ending(&self) -> &CancellationToken {
        &self.ending
    }

    pub(crate) fn close(&self) {
        self.closing.cancel();
    }

    pub(crate) fn end_running(&self) {
        self.closing.cancel();
        self.ending.cancel();
    }

    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::Acquire)
    }

    pub(crate) fn ended(&self) -> usize {
        self.ended.load(Ordering::Relaxed)
    }

    /// Runs an exchange until it is done or the grace period is over. Then `cancel` is set, and the exchange
    /// has a moment to react. `reached` says whether the work may have begun.
    pub(crate) async fn until_end<T>(
        &self,
        mut running: Pin<&mut impl Future<Output = Result<T, Fault>>>,
        cancel: &CancellationToken,
        reached: impl Fn() -> bool,
    ) -> Result<T, Fault> {
        // Most exchanges end at their first poll, and then need no watch.
        if let Poll::Ready(done) = poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx))).await {
            return done;
        }
        tokio::select! {
            biased;
            done = running.as_mut() => return done,
            () = self.ending.cancelled() => {}
        }
        if cancel.is_cancelled() {
            // The caller was first. Its request ends as it would have without the shutdown.
            let last = tokio::time::timeout(HARD_END, running).await;
            return last.unwrap_or_else(|_| Err(cancelled(reached())));
        }
        cancel.cancel();
        let last = tokio::time::timeout(HARD_END, running).await;
        last.unwrap_or_else(|_| Err(stopped())).map_err(|fault| self.explain(fault, reached()))
    }

    /// Replaces the fault of work that was stopped. Any other fault is the handler's own, and stands.
    fn explain(&self, fault: Fault, reached: bool) -> Fault {
        let is_cancelled = *fault.reason() == reason::SERVER_CANCELLED;
        if !is_cancelled && *fault.reason() != reason::SERVER_SHUTDOWN {
            return fault;
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
        let effect = match (is_cancelled, reached) {
            // The handler stopped itself, and knows what it did until then.
            (true, _) => fault.effect(),
            (false, true) => Effect::Unknown,
            (false, false) => Effect::None,
        };
        let ended = stopped().with_effect(effect);
        let ended = if effect == Effect::None { ended } else { ended.advise(&reason::SERVER_ENDED) };
        ended.absorbing(fault)
    }
}

/// The fault of work that the end of the grace period stopped.
pub(crate) fn stopped() -> Fault {
    Fault::new(&reason::SERVER_SHUTDOWN)
}

/// The fault of work that ignored its cancellation.
fn cancelled(reached: bool) -> Fault {
    let effect = if reached { Effect::Unknown } else { Effect::None };
    Fault::new(&reason::SERVER_CANCELLED).with_effect(effect)
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::pin::pin;

    use failwell_fault::{Effect, Fault, reason};
    use tokio_util::sync::CancellationToken;

    use super::Shutdown;

    async fn check(
        work: impl Future<Output = Result<u8, Fault>>,
        cancel: &CancellationToken,
        reached: bool,
        expected: (&str, Effect),
        ended: usize,
    ) {
        let shutdown = Shutdown::default();
        let running = shutdown.enter();
        shutdown.end_running();
        let fault = shutdown.until_end(pin!(work), cancel, || reached).await.expect_err("ended");
        assert_eq!((fault.reason().id, fault.effect()), expected);
        assert_eq!((shutdown.running(), shutdown.ended()), (1, ended));
        drop(running);
        assert_eq!(shutdown.running(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn ended_work_says_whether_it_was_reached() {
        let new = CancellationToken::new;
        check(pending(), &new(), true, ("server/SHUTDOWN", Effect::Unknown), 1).await;
        check(pending(), &new(), false, ("server/SHUTDOWN", Effect::None), 1).await;
        let cancel = new();
        let stops = async {
            cancel.cancelled().await;
            Err(Fault::new(&reason::SERVER_CANCELLED).with_effect(Effect::Partial))
        };
        check(stops, &cancel, true, ("server/SHUTDOWN", Effect::Partial), 1).await;
        let cancel = new();
        let fails = async {
            cancel.cancelled().await;
            Err(Fault::new(&reason::SERVER_OUTPUT).with_effect(Effect::Complete))
        };
        check(fails, &cancel, true, ("server/OUTPUT", Effect::Complete), 0).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_its_caller_cancelled_stays_cancelled() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        check(pending(), &cancel, true, ("server/CANCELLED", Effect::Unknown), 0).await;
        check(pending(), &cancel, false, ("server/CANCELLED", Effect::None), 0).await;
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_finishes_in_time_is_not_ended() {
        let (shutdown, cancel) = (Shutdown::default(), CancellationToken::new());
        shutdown.end_running();
        let late = async {
            cancel.cancelled().await;
            Ok(7)
        };
        let done = shutdown.until_end(pin!(late), &cancel, || true).await;
        assert!(matches!(done, Ok(7)) && shutdown.ended() == 0);
    }
}
