//! What a killed supervisor leaves behind. This program is a subreaper too, so orphans of a supervisor become its own
//! children; they are told apart from others by the mark every supervisor puts on itself and all below it: no new privileges.

#[cfg(target_os = "linux")]
pub(crate) use linux::{Charge, end};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Charge, end};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::fs;
    use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

    use crate::family;
    use crate::supervisor::SWEEP;

    /// How long between two looks.
    const PAUSE: Duration = Duration::from_millis(5);

    /// Supervisors that are alive.
    static SUPERVISORS: LazyLock<Mutex<HashSet<i32>>> = LazyLock::new(|| {
        // Where this is refused, orphans go where they always went.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Mutex::default()
    });

    fn supervisors() -> MutexGuard<'static, HashSet<i32>> {
        SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A supervisor that is alive: no orphan.
    pub(crate) struct Charge(i32);

    impl Charge {
        pub(crate) fn of(supervisor: Option<u32>) -> Charge {
            let number = supervisor.and_then(|number| i32::try_from(number).ok()).unwrap_or(0);
            supervisors().insert(number);
            Charge(number)
        }
    }

    impl Drop for Charge {
        fn drop(&mut self) {
            supervisors().remove(&self.0);
        }
    }

    /// Ends and reaps every orphan and all below it. Says how many could not be ended.
    pub(crate) async fn end() -> u32 {
        let own = rustix::process::getpid().as_raw_nonzero().get();
        if is_marked(own) {
            return 0; // Everything below us has the mark then, and nobody can be told apart.
        }
        let began = Instant::now();
        loop {
            let orphans = orphans(own);
            if orphans.is_empty() || began.elapsed() >= SWEEP {
                return u32::try_from(orphans.len()).unwrap_or(u32::MAX);
            }
            for orphan in orphans {
                for below in family::below(orphan) {
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

    fn orphans(own: i32) -> Vec<i32> {
        let known = supervisors();
        family::children(own).into_iter().filter(|pid| !known.contains(pid) && is_marked(*pid)).collect()
    }

    fn is_marked(pid: i32) -> bool {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("NoNewPrivs:").is_some_and(|value| value.trim() == "1"))
    }
}

/// Without a subreaper orphans are nobody's.
#[cfg(not(target_os = "linux"))]
mod other {
    pub(crate) struct Charge;

    impl Charge {
        pub(crate) fn of(_: Option<u32>) -> Charge {
            Charge
        }
    }

    pub(crate) async fn end() -> u32 {
        0
    }
}
