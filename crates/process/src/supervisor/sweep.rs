//! Ends and reaps all remaining processes.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal as Raw, WaitOptions, WaitStatus, kill_process, kill_process_group, wait};

use super::{SWEEP, descendants};
use crate::{Exit, Signal};

/// The result of one round of reaping.
pub(super) enum ReapResult {
    /// The child itself was reaped.
    Target(Exit),
    /// Some processes are still running.
    StillRunning,
    /// No process is left.
    NoneLeft,
}

/// Reaps ended processes until it reaches the child.
pub(super) fn reap(target: Pid) -> ReapResult {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == target => {
                if let Some(exit) = exit_of(status) {
                    return ReapResult::Target(exit);
                }
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return ReapResult::StillRunning,
            Err(_) => return ReapResult::NoneLeft,
        }
    }
}

fn exit_of(status: WaitStatus) -> Option<Exit> {
    let code = status.exit_status().map(Exit::Code);
    code.or_else(|| status.terminating_signal().map(|number| Exit::Signal(Signal::from_number(number))))
}

/// Sends SIGTERM to all remaining processes, then kills and reaps them. Returns the exit of the child if it
/// was among them, and the number of processes that could not be ended.
pub(super) fn sweep(target: Pid, grace: Duration, mut target_reaped: bool) -> (Option<Exit>, u32) {
    if cfg!(not(target_os = "linux")) {
        // Without a subreaper only the process group can be ended, and descendants cannot be reaped.
        let _ = kill_process_group(target, Raw::KILL);
    }
    let began = Instant::now();
    let mut asked = grace.is_zero();
    let mut exit = None;
    let mut pause = Duration::from_micros(500);
    loop {
        match reap(target) {
            ReapResult::Target(found) => {
                exit = Some(found);
                target_reaped = true;
                continue;
            }
            ReapResult::NoneLeft => return (exit, 0),
            ReapResult::StillRunning => {}
        }
        let elapsed = began.elapsed();
        if elapsed >= grace {
            // The group id is reserved only until its leader is reaped.
            if !target_reaped {
                let _ = kill_process_group(target, Raw::KILL);
            }
            signal_all(Raw::KILL);
        } else if !asked {
            asked = true;
            signal_all(Raw::TERM);
            signal_all(Raw::CONT);
        }
        if elapsed >= grace.saturating_add(SWEEP) {
            return (exit, u32::try_from(descendants::all().len()).unwrap_or(u32::MAX));
        }
        std::thread::sleep(pause.min(grace.saturating_sub(elapsed).max(Duration::from_micros(500))));
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn signal_all(signal: Raw) {
    for pid in descendants::all() {
        let _ = kill_process(pid, signal);
    }
}
