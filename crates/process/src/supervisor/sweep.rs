//! Ending and reaping everything that is left.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal as Raw, WaitOptions, WaitStatus, kill_process, kill_process_group, wait};

use super::{SWEEP, descendants};
use crate::{Exit, Signal};

/// What a round of reaping found.
pub(super) enum Reaped {
    /// The child itself, now or in this round.
    Target(Exit),
    /// Some are still there.
    Left,
    /// Nobody is there any more.
    Nobody,
}

/// Reaps whoever has ended, up to the child itself.
pub(super) fn reap(target: Pid) -> Reaped {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == target => {
                if let Some(exit) = exit_of(status) {
                    return Reaped::Target(exit);
                }
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Reaped::Left,
            Err(_) => return Reaped::Nobody,
        }
    }
}

fn exit_of(status: WaitStatus) -> Option<Exit> {
    let code = status.exit_status().map(Exit::Code);
    code.or_else(|| status.terminating_signal().map(|number| Exit::Signal(Signal::from_number(number))))
}

/// Asks everybody left to end, then kills them, and reaps them all. Says how the child went if it was among them, and how
/// many could not be ended.
pub(super) fn sweep(target: Pid, grace: Duration, mut target_reaped: bool) -> (Option<Exit>, u32) {
    if cfg!(not(target_os = "linux")) {
        // Without a subreaper the group is all that can be found, and nobody below it is ours to wait for.
        let _ = kill_process_group(target, Raw::KILL);
    }
    let began = Instant::now();
    let mut asked = grace.is_zero();
    let mut exit = None;
    let mut pause = Duration::from_micros(500);
    loop {
        match reap(target) {
            Reaped::Target(found) => {
                exit = Some(found);
                target_reaped = true;
                continue;
            }
            Reaped::Nobody => return (exit, 0),
            Reaped::Left => {}
        }
        let elapsed = began.elapsed();
        if elapsed >= grace {
            // A group's number is its own only while its leader has not been reaped.
            if !target_reaped {
                let _ = kill_process_group(target, Raw::KILL);
            }
            everybody(Raw::KILL);
        } else if !asked {
            asked = true;
            everybody(Raw::TERM);
            everybody(Raw::CONT);
        }
        if elapsed >= grace.saturating_add(SWEEP) {
            return (exit, u32::try_from(descendants::all().len()).unwrap_or(u32::MAX));
        }
        std::thread::sleep(pause.min(grace.saturating_sub(elapsed).max(Duration::from_micros(500))));
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn everybody(signal: Raw) {
    for pid in descendants::all() {
        let _ = kill_process(pid, signal);
    }
}
