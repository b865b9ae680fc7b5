//! The memory limit of an analysis.
//!
//! A separate thread watches the engine process, because a value can grow in places that the interpreter does
//! not count: a list that doubles, terms, the parser. Beyond the limit the interpreter stops at its next
//! instruction, and the analysis returns its results so far. If the interpreter does not reach it, the
//! process ends itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
#[cfg(unix)]
#[cfg(unix)]
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Whether this analysis exceeded the memory limit. It is global, like the memory of a process.
static EXHAUSTED: AtomicBool = AtomicBool::new(false);
/// The limit in bytes. 0 if it is not watched.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Whether the analysis must stop because of its memory.
pub(crate) fn is_exhausted() -> bool {
    EXHAUSTED.load(Ordering::Relaxed)
}

pub(crate) fn limit_mb() -> u64 {
    LIMIT.load(Ordering::Relaxed) >> 20
}

/// Interval of checking the memory of a busy engine. It can grow by about 20 MB in this time.
#[cfg(unix)]
const INTERVAL: Duration = Duration::from_millis(5);

/// The exit status of an engine that ended itself because of its memory.
#[cfg(unix)]
pub(crate) const OUT_OF_MEMORY: u8 = 86;

/// Watches the memory of this process while an analysis runs.
#[cfg(unix)]
#[derive(Debug, Default)]
pub(crate) struct MemoryWatch {
    is_busy: Mutex<bool>,
    changed: Condvar,
}

#[cfg(unix)]
impl MemoryWatch {
    /// Starts the thread. It lives as long as the process.
    pub(crate) fn start(limit: u64) -> std::io::Result<&'static MemoryWatch> {
        LIMIT.store(limit, Ordering::Relaxed);
        let watch: &'static MemoryWatch = Box::leak(Box::default());
        std::thread::Builder::new().name("memory".to_owned()).spawn(move || watch.run(limit))?;
        Ok(watch)
    }

    /// Starts to watch an analysis.
    pub(crate) fn begin(&self) {
        EXHAUSTED.store(false, Ordering::Relaxed);
        *self.is_busy.lock() = true;
        self.changed.notify_all();
    }

    pub(crate) fn end(&self) {
        *self.is_busy.lock() = false;
    }

    fn run(&self, limit: u64) {
        loop {
            let mut busy = self.is_busy.lock();
            self.changed.wait_while(&mut busy, |busy| !*busy);
            drop(busy);
            let resident = resident().unwrap_or(0);
            if resident > limit {
                EXHAUSTED.store(true, Ordering::Relaxed);
            }
            if resident > limit + limit / 2 {
                std::process::exit(OUT_OF_MEMORY.into());
            }
            std::thread::sleep(INTERVAL);
        }
    }
}

/// Resident memory of this process in bytes. `None` if the system does not report it.
#[cfg(unix)]
pub(crate) fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes << 10)
}
