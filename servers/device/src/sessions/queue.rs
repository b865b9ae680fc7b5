//! A bounded FIFO queue before a limited number of permits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

#[derive(Debug)]
pub(crate) struct Queue {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    most: usize,
}

/// A permit. Dropping it releases the place.
#[derive(Debug)]
pub(crate) struct QueuePermit {
    _place: OwnedSemaphorePermit,
}

/// The reason why there is no permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueueError {
    Full,
    /// The wait exceeded its limit.
    TimedOut,
}

impl Queue {
    /// Creates a queue with this number of permits and at most `most` waiters.
    pub(crate) fn new(places: usize, most: usize) -> Queue {
        Queue { places: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0), most }
    }

    /// A permit, if one is free now.
    pub(crate) fn try_enter(&self) -> Option<QueuePermit> {
        self.places.clone().try_acquire_owned().ok().map(|place| QueuePermit { _place: place })
    }

    /// Waits for a permit. A dropped waiter leaves the queue.
    pub(crate) async fn enter(&self, longest: Duration) -> Result<QueuePermit, QueueError> {
        if let Some(turn) = self.try_enter() {
            return Ok(turn);
        }
        let before = self.waiting.fetch_add(1, Ordering::SeqCst);
        let _waiting = WaitingGuard(&self.waiting);
        if before >= self.most {
            return Err(QueueError::Full);
        }
        match timeout(longest, self.places.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok(QueuePermit { _place: place }),
            Ok(Err(_)) | Err(_) => Err(QueueError::TimedOut),
        }
    }
}

struct WaitingGuard<'a>(&'a AtomicUsize);

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::{Queue, QueueError};

    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn who_came_first_is_served_first_and_the_line_has_an_end() {
        let queue = Arc::new(Queue::new(1, 2));
        let first = queue.enter(LONG).await.unwrap();
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut waiting = Vec::new();
        for number in 0..2 {
            let (line, served) = (queue.clone(), served.clone());
            waiting.push(tokio::spawn(async move {
                let _turn = line.enter(LONG).await.unwrap();
                served.lock().unwrap().push(number);
            }));
            while queue.waiting.load(std::sync::atomic::Ordering::SeqCst) <= number {
                tokio::task::yield_now().await;
            }
        }
        assert_eq!(queue.enter(LONG).await.unwrap_err(), QueueError::Full);
        drop(first);
        for one in waiting {
            one.await.unwrap();
        }
        assert_eq!(*served.lock().unwrap(), [0, 1]);
        let _held = queue.enter(LONG).await.unwrap();
        assert_eq!(queue.enter(Duration::from_millis(10)).await.unwrap_err(), QueueError::TimedOut);
    }
}
