//! A rotating file: `audit.jsonl`, then `audit.jsonl.1` and so on.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use failwell_fault::{Fault, OrFault, reason};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// Maximum size in bytes before rotation; 0 means unlimited.
    pub bytes: u64,
    /// Number of rotated files to keep.
    pub files: u32,
}

impl Default for Rotation {
    fn default() -> Rotation {
        Rotation { bytes: 100 << 20, files: 5 }
    }
}

pub(super) struct RotatingFile {
    path: PathBuf,
    rotation: Rotation,
    open: Option<File>,
    /// The first line of a new file.
    header: &'static str,
}

impl RotatingFile {
    pub(super) fn new(path: impl Into<PathBuf>, rotation: Rotation, header: &'static str) -> RotatingFile {
        RotatingFile { path: path.into(), rotation, open: None, header }
    }

    /// Appends whole lines with one write, so that several processes can share a file.
    pub(super) fn add(&mut self, lines: &str) -> Result<(), Fault> {
        let added = self.try_add(lines);
        if added.is_err() {
            self.open = None;
        }
        added.or_fault(&reason::AUDIT_FAILED)
    }

    fn try_add(&mut self, lines: &str) -> std::io::Result<()> {
        self.rotate()?;
        let mut file = match self.open.take() {
            Some(file) => file,
            None => open(&self.path)?,
        };
        let length = file.metadata()?.len();
        if length == 0 && !self.header.is_empty() {
            file.write_all(format!("{}{lines}", self.header).as_bytes())?;
        } else if length > 0 && !ends_a_line(&self.path) {
            // Terminate a line that a crash cut short, so that it does not merge with the next.
            file.write_all(format!("\n{lines}").as_bytes())?;
        } else {
            file.write_all(lines.as_bytes())?;
        }
        self.open = Some(file);
        Ok(())
    }

    fn rotate(&mut self) -> std::io::Result<()> {
        let Ok(length) = self.path.metadata().map(|metadata| metadata.len()) else {
            // The file was moved or deleted: create a new one.
            self.open = None;
            return Ok(());
        };
        if self.rotation.bytes == 0 || length < self.rotation.bytes {
            return Ok(());
        }
        self.open = None;
        if self.rotation.files == 0 {
            return std::fs::remove_file(&self.path);
        }
        for older in (1..self.rotation.files).rev() {
            let _ = std::fs::rename(numbered(&self.path, older), numbered(&self.path, older + 1));
        }
        std::fs::rename(&self.path, numbered(&self.path, 1))
    }

    pub(super) fn sync(&mut self) {
        if let Some(file) = &self.open {
            let _ = file.sync_data();
        }
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn ends_a_line(path: &Path) -> bool {
    use std::io::{Read, Seek, SeekFrom};
    let mut last = [b'\n'];
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)
    });
    read.is_err() || last == *b"\n"
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}
