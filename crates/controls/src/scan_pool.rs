//! Threads for the inspection of large messages. They serve no connection, so that a large message delays no
//! other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use tokio::sync::Semaphore;

/// The most inspections that wait for a thread. Each keeps its message in memory.
const MOST_WAITING: usize = 256;
/// How long an inspection may take, the wait for a thread included.
const LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct ScanPool {
    threads: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Default for ScanPool {
    /// Half of the processors inspect large messages, so that the other half goes on.
    fn default() -> ScanPool {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        ScanPool { threads: Arc::new(Semaphore::new((cores / 2).max(1))), waiting: AtomicUsize::new(0) }
    }
}

/// A place among the waiting inspections.
struct WaitingPlace<'a>(&'a AtomicUsize);

impl Drop for WaitingPlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ScanPool {
    /// Runs an inspection on a thread of its own.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        inspect: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let place = WaitingPlace(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WAITING));
        }
        let work = async {
            let thread = self.threads.clone().acquire_owned().await.or_fault(&reason::SERVER_SHUTDOWN)?;
            drop(place);
            let inspection = tokio::task::spawn_blocking(move || {
                let _thread = thread;
                inspect()
            });
            inspection.await.or_fault(&reason::SERVER_PANIC)
        };
        let late = |_| {
            let fault = Fault::new(&reason::POLICY_GUARD_FAILED).fact("guard", "content");
            Err(fault.fact("why", "a large message was not inspected in time"))
        };
        tokio::time::timeout(LIMIT, work).await.unwrap_or_else(late)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{MOST_WAITING, ScanPool};
    use failwell_fault::reason;
    use tokio::sync::Semaphore;

    #[tokio::test]
    async fn threads_and_queue_are_bounded() {
        let pool = Arc::new(ScanPool { threads: Arc::new(Semaphore::new(2)), waiting: AtomicUsize::new(0) });
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..2 * MOST_WAITING)
            .map(|_| {
                let (pool, running, most) = (pool.clone(), running.clone(), most.clone());
                tokio::spawn(async move {
                    pool.run(move || {
                        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        running.fetch_sub(1, Ordering::SeqCst);
                    })
                    .await
                })
            })
            .collect();
        let mut refused = 0;
        for task in tasks {
            match task.await.expect("no panic") {
                Ok(()) => {}
                Err(fault) if *fault.reason() == reason::SERVER_BUSY => refused += 1,
                Err(fault) => panic!("{fault}"),
            }
        }
        assert!(refused > 0 && refused <= MOST_WAITING, "{refused}");
        assert!(most.load(Ordering::SeqCst) <= 2);
        assert_eq!(pool.waiting.load(Ordering::SeqCst), 0);
    }
}
