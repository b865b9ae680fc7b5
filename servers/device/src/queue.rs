//! A line of limited length, served in the order people came.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A line before one or more places.
#[derive(Debug)]
pub(crate) struct Queue {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    most: usize,
}

/// A place, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _place: OwnedSemaphorePermit,
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoTurn {
    /// Too many wait already.
    Full,
    /// It was not this one's turn in time.
    Late,
}

impl Queue {
    /// So many places, and so many who may wait for one.
    pub(crate) fn new(places: usize, most: usize) -> Queue {
        Queue { places: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0), most }
    }

    /// A place now, or none.
    pub(crate) fn try_enter(&self) -> Option<Turn> {
        self.places.clone().try_acquire_owned().ok().map(|place| Turn { _place: place })
    }

    /// A place when it is this one's turn. Whoever gives up waiting leaves the line.
    pub(crate) async fn enter(&self, longest: Duration) -> Result<Turn, NoTurn> {
        if let Some(turn) = self.try_enter() {
            return Ok(turn);
        }
        let before = self.waiting.fetch_add(1, Ordering::SeqCst);
        let _waiting = Waiting(&self.waiting);
        if before >= self.most {
            return Err(NoTurn::Full);
        }
        match timeout(longest, self.places.clone().acquire_owned()).await {
            Ok(Ok(place)) => Ok(Turn { _place: place }),
            Ok(Err(_)) | Err(_) => Err(NoTurn::Late),
        }
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::{NoTurn, Queue};

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
        assert_eq!(queue.enter(LONG).await.unwrap_err(), NoTurn::Full);
        drop(first);
        for one in waiting {
            one.await.unwrap();
        }
        assert_eq!(*served.lock().unwrap(), [0, 1]);
        let _held = queue.enter(LONG).await.unwrap();
        assert_eq!(queue.enter(Duration::from_millis(10)).await.unwrap_err(), NoTurn::Late);
    }
}
