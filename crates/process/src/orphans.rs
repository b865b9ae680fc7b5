//! Processes that a killed supervisor leaves behind. This program is a subreaper too, so it adopts them. A
//! mark identifies them: every supervisor sets `no_new_privs` on itself, and its descendants inherit it.

#[cfg(target_os = "linux")]
pub use linux::end_all;
#[cfg(target_os = "linux")]
pub(crate) use linux::{SupervisorGuard, end};
#[cfg(not(target_os = "linux"))]
pub use other::end_all;
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{NoSupervisorGuard as SupervisorGuard, end};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::fs;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use parking_lot::{Mutex, MutexGuard};
    use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

    use crate::process_tree;
    use crate::supervisor::SWEEP;

    /// Interval between two searches.
    const PAUSE: Duration = Duration::from_millis(5);

    /// How long supervisors may take to clean up at the end of this program.
    const LAST_GRACE: Duration = Duration::from_secs(6);

    /// Whether this program ever started a child.
    static HAD_CHILDREN: AtomicBool = AtomicBool::new(false);

    /// The pids of running supervisors.
    static SUPERVISORS: LazyLock<Mutex<HashSet<i32>>> = LazyLock::new(|| {
        // Without a subreaper, orphans go to init as usual.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Mutex::default()
    });

    fn supervisors() -> MutexGuard<'static, HashSet<i32>> {
        SUPERVISORS.lock()
    }

    /// Registers a running supervisor, so that it is not taken for an orphan.
    pub(crate) struct SupervisorGuard(i32);

    impl SupervisorGuard {
        pub(crate) fn new(supervisor: Option<u32>) -> SupervisorGuard {
            let number = supervisor.and_then(|number| i32::try_from(number).ok()).unwrap_or(0);
            HAD_CHILDREN.store(true, Ordering::Relaxed);
            supervisors().insert(number);
            SupervisorGuard(number)
        }
    }

    impl Drop for SupervisorGuard {
        fn drop(&mut self) {
            supervisors().remove(&self.0);
        }
    }

    /// Ends and reaps every orphan and its descendants. Returns the number of processes that could not be
    /// ended.
    pub(crate) async fn end() -> u32 {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        if is_marked(own) {
            return 0; // All our descendants have the mark then, so orphans cannot be identified.
        }
        let began = Instant::now();
        loop {
            let orphans = orphans(own);
            if orphans.is_empty() || began.elapsed() >= SWEEP {
                return u32::try_from(orphans.len()).unwrap_or(u32::MAX);
            }
            for orphan in orphans {
                for below in process_tree::below(orphan) {
                    let _ = kill_process(below, Signal::KILL);
                }
                if let Some(orphan) = Pid::from_raw(orphan) {
                    let _ = kill_process(orphan, Signal::KILL);
                    let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until every supervisor has ended its child and itself, and kills whatever is left after a while. Call it
    /// last: the handles of all children must be dropped.
    pub fn end_all() {
        if !HAD_CHILDREN.load(Ordering::Relaxed) {
            return;
        }
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let began = Instant::now();
        loop {
            let left: Vec<Pid> =
                process_tree::children(own).into_iter().filter_map(Pid::from_raw).filter(is_left).collect();
            if left.is_empty() || began.elapsed() >= LAST_GRACE + SWEEP {
                return;
            }
            for child in left {
                if began.elapsed() < LAST_GRACE {
                    // A child may have stopped its supervisor.
                    let _ = kill_process(child, Signal::CONT);
                    continue;
                }
                for below in process_tree::below(child.as_raw_nonzero().get()) {
                    let _ = kill_process(below, Signal::KILL);
                }
                let _ = kill_process(child, Signal::KILL);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Reaps a child of this process that has ended. Returns whether it still runs.
    fn is_left(child: &Pid) -> bool {
        matches!(waitpid(Some(*child), WaitOptions::NOHANG), Ok(None))
    }

    fn orphans(own: i32) -> Vec<i32> {
        let known = supervisors();
        process_tree::children(own)
            .into_iter()
            .filter(|pid| !known.contains(pid) && is_marked(*pid))
            .collect()
    }

    fn is_marked(pid: i32) -> bool {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("NoNewPrivs:").is_some_and(|value| value.trim() == "1"))
    }
}

/// Without a subreaper orphans cannot be found.
#[cfg(not(target_os = "linux"))]
mod other {
    pub(crate) struct NoSupervisorGuard;

    impl NoSupervisorGuard {
        pub(crate) fn new(_: Option<u32>) -> NoSupervisorGuard {
            NoSupervisorGuard
        }
    }

    pub(crate) async fn end() -> u32 {
        0
    }

    /// Supervisors see that this program is gone.
    pub fn end_all() {}
}
