//! When to read the configuration again: it was saved, or somebody sent SIGHUP.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::time::{Interval, MissedTickBehavior, interval};

/// How often the file is looked at. It is read when two looks in a row found the same change, so that a file is not
/// read while it is still being written.
const LOOK: Duration = Duration::from_millis(500);

/// A file somebody may save. Looking at its path rather than listening to the file itself holds when editors put a new
/// file in its place, and wherever the file lies.
pub(super) struct Watched {
    path: PathBuf,
    known: Option<Stamp>,
    seen: Option<Stamp>,
    looks: Interval,
}

/// What tells one state of a file from another.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    file: u64,
    size: u64,
    modified: Option<SystemTime>,
}

impl Watched {
    /// As it is now counts as known.
    pub(super) fn new(path: PathBuf) -> Watched {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let known = stamp(&path);
        Watched { path, seen: known.clone(), known, looks }
    }

    /// Waits until it is another one, or gone, and stays so.
    pub(super) async fn changed(&mut self) {
        loop {
            self.looks.tick().await;
            let now = self.look().await;
            let is_settled = now == self.seen;
            self.seen = now;
            if is_settled && self.seen != self.known {
                self.known = self.seen.clone();
                return;
            }
        }
    }

    /// It is about to be read: as it is now counts as known.
    pub(super) async fn know(&mut self) {
        self.known = self.look().await;
        self.seen = self.known.clone();
    }

    async fn look(&self) -> Option<Stamp> {
        let path = self.path.clone();
        // A network file system may take its time, and must not take that of a request.
        tokio::task::spawn_blocking(move || stamp(&path)).await.ok().flatten()
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let file = std::os::unix::fs::MetadataExt::ino(&meta);
    #[cfg(not(unix))]
    let file = 0;
    Some(Stamp { file, size: meta.len(), modified: meta.modified().ok() })
}

/// What a SIGHUP means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hangup {
    /// Read the configuration again.
    Reload,
    /// The terminal we were started from was closed.
    TerminalGone,
}

/// Tells the two meanings of SIGHUP apart.
pub(super) struct Hangups {
    #[cfg(unix)]
    signals: Option<tokio::signal::unix::Signal>,
    has_terminal: bool,
}

impl Hangups {
    /// From now on SIGHUP does not end the program by itself.
    pub(super) fn new() -> Hangups {
        // Started with nohup, the program is meant to outlive its terminal.
        let has_terminal = File::open("/dev/tty").is_ok() && !is_ignored();
        #[cfg(unix)]
        let signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok();
        Hangups {
            #[cfg(unix)]
            signals,
            has_terminal,
        }
    }

    pub(super) async fn next(&mut self) -> Hangup {
        self.signalled().await;
        let is_gone = self.has_terminal && File::open("/dev/tty").is_err();
        if is_gone { Hangup::TerminalGone } else { Hangup::Reload }
    }

    #[cfg(unix)]
    async fn signalled(&mut self) {
        let came = match &mut self.signals {
            Some(signals) => signals.recv().await,
            None => None,
        };
        if came.is_none() {
            std::future::pending().await
        }
    }

    #[cfg(not(unix))]
    async fn signalled(&mut self) {
        std::future::pending().await
    }
}

/// Whether SIGHUP was ignored when the program was started.
fn is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
