//! How much memory an analysis may take.
//!
//! The engine process is watched from a thread of its own, because a value can grow in places the interpreter does not
//! count: a list that doubles, terms, the parser. Past the limit the interpreter stops at its next instruction and the
//! analysis answers with what it has; if it does not get there, the process ends itself.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
#[cfg(unix)]
use std::sync::{Condvar, Mutex, PoisonError};
#[cfg(unix)]
use std::time::Duration;

/// The memory limit was exceeded during this analysis. Global, as the memory of a process is.
static EXHAUSTED: AtomicBool = AtomicBool::new(false);
/// The limit in bytes; 0 where nothing is watched.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// Whether the analysis has to stop because of its memory.
pub(crate) fn is_exhausted() -> bool {
    EXHAUSTED.load(Ordering::Relaxed)
}

/// The limit in megabytes.
pub(crate) fn limit_mb() -> u64 {
    LIMIT.load(Ordering::Relaxed) >> 20
}

/// How often the memory of a busy engine is looked at. In this time it can grow by some 20 MB.
#[cfg(unix)]
const INTERVAL: Duration = Duration::from_millis(5);

/// What the exit status of an engine says when it ended itself because of its memory.
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

    /// An analysis begins.
    pub(crate) fn begin(&self) {
        EXHAUSTED.store(false, Ordering::Relaxed);
        *self.is_busy.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// It ended.
    pub(crate) fn end(&self) {
        *self.is_busy.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    fn run(&self, limit: u64) {
        loop {
            let busy = self.is_busy.lock().unwrap_or_else(PoisonError::into_inner);
            drop(self.changed.wait_while(busy, |busy| !*busy));
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

/// Bytes this process holds in memory; nothing where the system does not say.
#[cfg(unix)]
pub(crate) fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes << 10)
}
