use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Wake, Waker};

use futures_util::task::AtomicWaker;

const RESTING: u8 = 0;
const POLLING: u8 = 1;
const RUNG: u8 = 2;

/// Wakes whoever waits on a connection; while they are at it already, it only notes that there is more to do. So the
/// two halves of an exchange, which wake each other all the time, cost no extra turn of their task.
#[derive(Default)]
pub(super) struct Bell {
    state: AtomicU8,
    waiting: AtomicWaker,
}

impl Bell {
    /// Somebody begins to look after the connection.
    pub(super) fn begin(&self, waiting: &Waker) {
        self.waiting.register(waiting);
        self.state.store(POLLING, Ordering::Release);
    }

    /// Whether it rang meanwhile; if not, it wakes from now on.
    pub(super) fn rang(&self) -> bool {
        let resting = self.state.compare_exchange(POLLING, RESTING, Ordering::AcqRel, Ordering::Acquire);
        if resting.is_err() {
            self.state.store(POLLING, Ordering::Release);
        }
        resting.is_err()
    }

    /// Nobody waits any more.
    pub(super) fn end(&self) {
        self.state.store(RESTING, Ordering::Release);
        self.waiting.take();
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let rung = self.state.compare_exchange(POLLING, RUNG, Ordering::AcqRel, Ordering::Acquire);
        if rung == Err(RESTING) {
            self.waiting.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn it_notes_while_somebody_looks_and_wakes_while_nobody_does() {
        let (bell, count) = (Arc::new(Bell::default()), Arc::new(Count::default()));
        let (ring, task) = (Waker::from(bell.clone()), Waker::from(count.clone()));
        bell.begin(&task);
        ring.wake_by_ref();
        ring.wake_by_ref();
        assert!(bell.rang(), "noted");
        assert!(!bell.rang(), "once");
        assert_eq!(count.0.load(Ordering::SeqCst), 0, "the task was at it already");
        ring.wake_by_ref();
        assert_eq!(count.0.load(Ordering::SeqCst), 1, "now it is woken");
        bell.begin(&task);
        bell.end();
        ring.wake_by_ref();
        assert_eq!(count.0.load(Ordering::SeqCst), 1, "nobody waits");
    }
}
