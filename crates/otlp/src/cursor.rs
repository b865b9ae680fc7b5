//! The sequence number of the last exported record, and the lock that selects the exporting process.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file of the position, and the file that the exporting process locks.
const FILE: &str = "otlp.position";
const LOCK: &str = "otlp.lock";

/// The position of the export in one chain.
pub(crate) struct ExportCursor {
    path: PathBuf,
    node: String,
    /// Several processes can share a ledger. The lock ensures that only one exports its records.
    _lock: File,
}

impl ExportCursor {
    /// Takes the lock, unless another process has it. The position is `None` for a chain that was never
    /// exported.
    pub(crate) fn take(folder: &Path, node: &str) -> Option<(ExportCursor, Option<i64>)> {
        let lock = open(&folder.join(LOCK)).ok()?;
        lock.try_lock().ok()?;
        let path = folder.join(FILE);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let known = text.trim().split_once(' ').filter(|(of, _)| *of == node);
        let seq = known.and_then(|(_, seq)| seq.parse().ok());
        Some((ExportCursor { path, node: node.to_owned(), _lock: lock }, seq))
    }

    /// Stores the position. Replaces the file by a rename, because a partial file would reset the position.
    pub(crate) fn advance(&self, seq: i64) -> std::io::Result<()> {
        let next = self.path.with_extension("next");
        let mut file = open(&next)?;
        file.set_len(0)?;
        file.write_all(format!("{} {seq}\n", self.node).as_bytes())?;
        std::fs::rename(next, &self.path)
    }
}

/// Creates a file that only its owner can read, like the ledger.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::ExportCursor;

    #[test]
    fn a_cursor_is_taken_once_and_stored_for_its_chain() {
        let folder = std::env::temp_dir().join(format!("failwell-place-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (place, seq) = ExportCursor::take(&folder, "a").expect("free");
        assert_eq!(seq, None);
        assert!(ExportCursor::take(&folder, "a").is_none(), "it is taken");
        place.advance(17).expect("kept");
        drop(place);
        assert_eq!(ExportCursor::take(&folder, "a").and_then(|(_, seq)| seq), Some(17));
        assert_eq!(ExportCursor::take(&folder, "b").and_then(|(_, seq)| seq), None);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
