//! Triggers of a reload: the file was saved, or SIGHUP arrived.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::time::{Interval, MissedTickBehavior, interval};

/// Poll interval. A change counts only if two polls in a row see the same state, so that a half-written file
/// is not read.
const LOOK: Duration = Duration::from_millis(500);

/// A watched path. Polling the path also works for editors that replace the file, and for network file
/// systems.
pub(super) struct WatchedFile {
    path: PathBuf,
    known: Option<Stamp>,
    seen: Option<Stamp>,
    looks: Interval,
}

/// The metadata that identifies a version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    file: u64,
    size: u64,
    modified: Option<SystemTime>,
}

impl WatchedFile {
    /// The current version counts as known.
    pub(super) fn new(path: PathBuf) -> WatchedFile {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let known = stamp(&path);
        WatchedFile { path, seen: known.clone(), known, looks }
    }

    /// Waits until the file has changed or disappeared, and is stable.
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

    /// Marks the current version as known. Call it before the file is read.
    pub(super) async fn know(&mut self) {
        self.known = self.look().await;
        self.seen = self.known.clone();
    }

    async fn look(&self) -> Option<Stamp> {
        let path = self.path.clone();
        // Metadata on a network file system can be slow and must not block a worker thread.
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

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hangup {
    /// Reload the configuration.
    Reload,
    /// The controlling terminal was closed.
    TerminalGone,
}

/// Distinguishes the two meanings of SIGHUP.
pub(super) struct Hangups {
    #[cfg(unix)]
    signals: Option<tokio::signal::unix::Signal>,
    has_terminal: bool,
}

impl Hangups {
    /// Installs a handler, so that SIGHUP no longer ends the program.
    pub(super) fn new() -> Hangups {
        // A program started with nohup must outlive its terminal.
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

/// Whether SIGHUP was ignored when the program started.
fn is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
