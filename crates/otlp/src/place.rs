//! How far the ledger's records were carried, kept beside the ledger; and who of several programs carries them.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file that says how far, and the one that is held by whoever carries.
const FILE: &str = "otlp.position";
const LOCK: &str = "otlp.lock";

/// Where the last record that arrived was, for one chain.
pub(crate) struct Place {
    path: PathBuf,
    node: String,
    /// Held while we carry: several programs may share a ledger, and each record is to arrive once.
    _lock: File,
}

impl Place {
    /// Takes the place, when no other program has it. Its position is `None` for a chain that was never carried.
    pub(crate) fn take(folder: &Path, node: &str) -> Option<(Place, Option<i64>)> {
        let lock = open(&folder.join(LOCK)).ok()?;
        lock.try_lock().ok()?;
        let path = folder.join(FILE);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let known = text.trim().split_once(' ').filter(|(of, _)| *of == node);
        let seq = known.and_then(|(_, seq)| seq.parse().ok());
        Some((Place { path, node: node.to_owned(), _lock: lock }, seq))
    }

    /// Everything up to this number has arrived. Whole or not at all: a torn file would begin anew.
    pub(crate) fn keep(&self, seq: i64) -> std::io::Result<()> {
        let next = self.path.with_extension("next");
        let mut file = open(&next)?;
        file.set_len(0)?;
        file.write_all(format!("{} {seq}\n", self.node).as_bytes())?;
        std::fs::rename(next, &self.path)
    }
}

/// For its owner alone, like everything beside it.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_place_is_taken_by_one_and_kept_for_its_chain() {
        let folder = std::env::temp_dir().join(format!("failwell-place-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (place, seq) = Place::take(&folder, "a").expect("free");
        assert_eq!(seq, None);
        assert!(Place::take(&folder, "a").is_none(), "it is taken");
        place.keep(17).expect("kept");
        drop(place);
        assert_eq!(Place::take(&folder, "a").and_then(|(_, seq)| seq), Some(17));
        assert_eq!(Place::take(&folder, "b").and_then(|(_, seq)| seq), None);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
