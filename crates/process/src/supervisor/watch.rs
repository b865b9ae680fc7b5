//! Watches the child from its start until its last descendant has ended.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal as Raw, kill_process, kill_process_group};

use super::descendants;
use super::sweep::{ReapResult, reap, sweep};
use crate::protocol::{SupervisorCommand, take_line};
use crate::{Exit, ExitCause, Limit, Limits};

/// Interval of reaping ended orphans while the child runs.
const IDLE: Duration = Duration::from_secs(1);

/// Interval of counting processes, if their number is limited.
const COUNT: Duration = Duration::from_millis(20);

/// Poll interval on systems that cannot wait for the child's end and for commands together.
const LOOK: Duration = Duration::from_millis(5);

pub(super) fn to_the_end(
    control: &UnixStream,
    target: Pid,
    limits: Limits,
    grace: Duration,
) -> (ExitCause, Option<Exit>, u32) {
    let mut watch = Watch {
        target,
        end: wait_handle(target),
        control: Some(control),
        arrived: Vec::new(),
        deadline: limits.wall.and_then(|wall| Instant::now().checked_add(wall)),
        processes: limits.processes,
        grace,
        ending: None,
    };
    let exit = watch.until_it_ends();
    // Remaining descendants get the same grace period, unless the child has used it up.
    let left = watch
        .ending
        .as_ref()
        .map_or(grace, |ending| ending.kill_at.saturating_duration_since(Instant::now()));
    let (late, survivors) = sweep(target, left, exit.is_some());
    let exit = exit.or(late);
    let how = match (watch.ending, exit) {
        (Some(ending), _) => ending.how,
        (None, Some(Exit::Code(code))) => ExitCause::Code(code),
        (None, Some(Exit::Signal(signal))) => ExitCause::Signal(signal),
        (None, None) => ExitCause::Lost,
    };
    (how, exit, survivors)
}

struct Watch<'a> {
    target: Pid,
    /// A pidfd, readable when the child has ended. `None` on systems without pidfds.
    end: Option<OwnedFd>,
    /// `None` after the launcher is gone.
    control: Option<&'a UnixStream>,
    arrived: Vec<u8>,
    deadline: Option<Instant>,
    processes: Option<u64>,
    grace: Duration,
    ending: Option<ShutdownProgress>,
}

struct ShutdownProgress {
    how: ExitCause,
    kill_at: Instant,
}

impl Watch<'_> {
    /// Returns when the child has ended or its grace period is over.
    fn until_it_ends(&mut self) -> Option<Exit> {
        loop {
            if let ReapResult::Target(exit) = reap(self.target) {
                return Some(exit);
            }
            let now = Instant::now();
            match &self.ending {
                Some(ending) if ending.kill_at <= now => return None,
                Some(_) => {}
                None if self.deadline.is_some_and(|deadline| deadline <= now) => {
                    self.end(ExitCause::TimedOut, self.grace)
                }
                None if self.too_many() => self.end(ExitCause::OverLimit(Limit::Processes), Duration::ZERO),
                None => {}
            }
            if self.sleep() {
                self.read_orders();
            }
        }
    }

    fn too_many(&self) -> bool {
        self.processes.is_some_and(|most| u64::try_from(descendants::all().len()).unwrap_or(u64::MAX) > most)
    }

    /// Starts to end the child, or shortens the grace period of a shutdown in progress.
    fn end(&mut self, how: ExitCause, grace: Duration) {
        let now = Instant::now();
        let kill_at = now.checked_add(grace).unwrap_or(now);
        if let Some(ending) = &mut self.ending {
            ending.kill_at = ending.kill_at.min(kill_at);
            return;
        }
        if !grace.is_zero() {
            let _ = kill_process_group(self.target, Raw::TERM);
            // A stopped process receives no signal until it continues.
            let _ = kill_process_group(self.target, Raw::CONT);
        }
        self.ending = Some(ShutdownProgress { how, kill_at });
    }

    /// Waits for an event or the next deadline. Returns true if there are commands.
    fn sleep(&self) -> bool {
        let now = Instant::now();
        let due = match &self.ending {
            Some(ending) => Some(ending.kill_at),
            None => self.deadline,
        };
        let mut longest = if self.processes.is_some() && self.ending.is_none() { COUNT } else { IDLE };
        if self.end.is_none() {
            longest = LOOK;
        }
        let wait = due.map_or(longest, |due| due.saturating_duration_since(now).min(longest));
        let timeout = Timespec::try_from(wait).ok();
        let watched = self.end.iter().map(|end| PollFd::new(end, PollFlags::IN));
        let mut handles: Vec<PollFd<'_>> =
            watched.chain(self.control.map(|control| PollFd::new(control, PollFlags::IN))).collect();
        let woken = poll(&mut handles, timeout.as_ref());
        let orders = handles.last().is_some_and(|handle| !handle.revents().is_empty());
        matches!(woken, Ok(count) if count > 0) && self.control.is_some() && orders
    }

    fn read_orders(&mut self) {
        let Some(mut control) = self.control else { return };
        let mut buffer = [0; 4096];
        match control.read(&mut buffer) {
            Ok(count @ 1..) => self.arrived.extend_from_slice(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => self.abandon(),
        }
        loop {
            match take_line(&mut self.arrived) {
                Ok(Some(SupervisorCommand::Signal(signal))) => {
                    if let Some(raw) = signal.raw() {
                        let _ = kill_process(self.target, raw);
                    }
                }
                Ok(Some(SupervisorCommand::Stop(grace))) => self.end(ExitCause::Stopped, grace),
                Ok(None) => return,
                Err(_) => return self.abandon(),
            }
        }
    }

    /// The launcher is gone or sent an invalid message.
    fn abandon(&mut self) {
        self.control = None;
        self.end(ExitCause::Stopped, self.grace);
    }
}

#[cfg(target_os = "linux")]
fn wait_handle(target: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(target, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn wait_handle(_: Pid) -> Option<OwnedFd> {
    None
}
