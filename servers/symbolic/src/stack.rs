//! Threads whose stack is deep enough for an analysis. One that is through with its work waits a while for the next, since
//! starting one takes longer than many analyses.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Calls of the analysed code nest on it, and code may be nested as deeply as validation lets it. Only what is used of
/// it takes memory.
const STACK: usize = 512 << 20;
/// Threads that wait at once.
const WAITING: usize = 2;
/// How long one waits; what its stack took goes with it.
const PATIENCE: Duration = Duration::from_secs(10);

thread_local! {
    /// Whether this thread is one of these.
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Does this where the stack is deep enough: here, or on a thread of its own. `None` when it panicked.
pub(crate) fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if IS_DEEP.get() {
        return catch_unwind(AssertUnwindSafe(work)).ok();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("analysis".to_owned()).stack_size(STACK);
        thread.spawn_scoped(scope, work).ok().and_then(|handle| handle.join().ok())
    })
}

/// What a thread does next.
type Job = Box<dyn FnOnce() + Send>;

/// Deep threads that are used again. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads(Arc<Mutex<Waiting>>);

/// Those that wait, each with the door its next job comes through.
#[derive(Debug, Default)]
struct Waiting {
    last: u64,
    doors: Vec<(u64, SyncSender<Job>)>,
}

impl Threads {
    /// Does this on a thread that waits, or on a new one.
    pub(crate) fn run(&self, mut job: Job) -> io::Result<()> {
        while let Some((_, door)) = self.take() {
            match door.try_send(job) {
                Ok(()) => return Ok(()),
                Err(error) => {
                    // The thread has gone in this very moment.
                    let (std::sync::mpsc::TrySendError::Full(back)
                    | std::sync::mpsc::TrySendError::Disconnected(back)) = error;
                    job = back;
                }
            }
        }
        let threads = self.clone();
        let live = move || {
            IS_DEEP.set(true);
            let (door, jobs) = sync_channel(1);
            let mut next = Some(job);
            while let Some(job) = next.take() {
                job();
                next = threads.wait(&door, &jobs);
            }
        };
        std::thread::Builder::new().name("analysis".to_owned()).stack_size(STACK).spawn(live).map(drop)
    }

    fn take(&self) -> Option<(u64, SyncSender<Job>)> {
        self.waiting().doors.pop()
    }

    /// The next job, unless none comes or enough others wait.
    fn wait(&self, door: &SyncSender<Job>, jobs: &Receiver<Job>) -> Option<Job> {
        let number = {
            let mut waiting = self.waiting();
            if waiting.doors.len() >= WAITING {
                return None;
            }
            waiting.last += 1;
            let number = waiting.last;
            waiting.doors.push((number, door.clone()));
            number
        };
        if let Ok(job) = jobs.recv_timeout(PATIENCE) {
            return Some(job);
        }
        self.waiting().doors.retain(|(other, _)| *other != number);
        // One that came while the door was being closed.
        jobs.try_recv().ok()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::{Threads, WAITING};

    #[test]
    fn a_thread_does_one_thing_after_the_other() {
        let threads = Threads::default();
        let (told, heard) = channel();
        for _ in 0..50 {
            let told = told.clone();
            let job = Box::new(move || told.send(std::thread::current().id()).expect("heard"));
            threads.run(job).expect("a thread");
            heard.recv_timeout(Duration::from_secs(30)).expect("done");
        }
        assert!(threads.waiting().doors.len() <= WAITING);
    }

    #[test]
    fn many_at_once_are_all_done() {
        let threads = Threads::default();
        let (told, heard) = channel();
        for number in 0..40 {
            let told = told.clone();
            threads.run(Box::new(move || told.send(number).expect("heard"))).expect("a thread");
        }
        let mut done: Vec<i32> =
            (0..40).map(|_| heard.recv_timeout(Duration::from_secs(30)).expect("done")).collect();
        done.sort_unstable();
        assert_eq!(done, (0..40).collect::<Vec<_>>());
    }
}
