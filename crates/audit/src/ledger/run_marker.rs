//! Marks a program that writes the ledger. The mark of a program that was killed, or that could not write its last
//! records, stays, and the next start reports it.
//!
//! A mark is a small file with a lock. The operating system releases the lock when the program ends in any way, so a
//! mark without a lock belongs to no running program. Its size is fixed when it is made, so that the number of lost
//! records can be written to a full disk.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use failwell_render::Moment;
use serde::Deserialize;

/// The beginning of the names of all marks.
const PREFIX: &str = "ledger.run.";
/// Maximum number of marks that one start reports.
const MOST: usize = 100;

/// The mark of this program.
#[derive(Debug)]
pub(crate) struct RunMarker {
    file: File,
    path: PathBuf,
    started: Moment,
}

/// A program that did not end well.
#[derive(Debug, Deserialize)]
pub(crate) struct AbandonedRun {
    pub(crate) started: String,
    pub(crate) pid: u32,
    /// Records that it could not write at its end.
    pub(crate) lost: u64,
}

impl RunMarker {
    /// Creates a mark. It gets its name after it is locked, so that no other start takes it for abandoned.
    pub(crate) fn place(folder: &Path) -> io::Result<RunMarker> {
        let mut number = [0; 8];
        getrandom::fill(&mut number).map_err(io::Error::other)?;
        let name = format!("{PREFIX}{:016x}", u64::from_be_bytes(number));
        let (path, early) = (folder.join(&name), folder.join(format!(".{name}")));
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut marker = RunMarker { file: options.open(&early)?, path, started: Moment::now() };
        let placed = marker
            .file
            .lock()
            .and_then(|()| marker.write(0))
            .and_then(|()| std::fs::rename(&early, &marker.path));
        if placed.is_err() {
            let _ = std::fs::remove_file(&early);
        }
        placed.map(|()| marker)
    }

    /// Notes the number of records that could not be written.
    pub(crate) fn write(&mut self, lost: u64) -> io::Result<()> {
        let text = format!(
            "{{\"started\":\"{}\",\"pid\":{:>10},\"lost\":{lost:>20}}}\n",
            self.started,
            std::process::id()
        );
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()
    }

    /// Removes the mark: the program ended well.
    pub(crate) fn remove(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Takes the marks of programs that are no longer there.
pub(crate) fn take_abandoned(folder: &Path) -> Vec<AbandonedRun> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_mark = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX))
    };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(is_mark)
        .filter_map(|path| take(&path))
        .take(MOST)
        .collect()
}

fn take(path: &Path) -> Option<AbandonedRun> {
    let mut file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    file.try_lock().ok()?;
    // Another start may have taken it between opening and locking; its name is gone then.
    std::fs::remove_file(path).ok()?;
    let mut text = String::new();
    (&mut file).take(1_024).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}
