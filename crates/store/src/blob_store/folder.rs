//! The files: `kept/<type>/<sha256><ext>`, and a folder per process under `incoming`.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use failwell_fault::Fault;

use crate::blob_store::errors::disk_fault;
use crate::blob_store::uri::{BlobUri, ResourceType};

/// The process that owns an incoming folder locks this file. A folder whose lock is free has no owner.
const LOCK: &str = "lock";

pub(crate) struct BlobFolder {
    files: PathBuf,
    incoming: PathBuf,
    own: PathBuf,
    next: AtomicU64,
    #[expect(dead_code, reason = "held for as long as the place is used")]
    lock: File,
}

impl BlobFolder {
    /// Creates missing folders. The caller must have the write lock on the index.
    pub(crate) fn make(root: &Path) -> Result<BlobFolder, Fault> {
        let (files, incoming) = (root.join("kept"), root.join("incoming"));
        for folder in [&files, &incoming] {
            make_folder(folder).map_err(disk_fault)?;
        }
        let mut number = [0u8; 8];
        getrandom::fill(&mut number).map_err(io::Error::other).map_err(disk_fault)?;
        let own = incoming.join(format!("{:016x}", u64::from_le_bytes(number)));
        make_folder(&own).map_err(disk_fault)?;
        let lock = make_file(&own.join(LOCK)).map_err(disk_fault)?;
        lock.try_lock().map_err(io::Error::from).map_err(disk_fault)?;
        Ok(BlobFolder { files, incoming, own, next: AtomicU64::new(1), lock })
    }

    /// Creates a file to write to.
    pub(crate) fn part(&self) -> Result<(File, PathBuf), Fault> {
        let path = self.own.join(format!("{}.part", self.next.fetch_add(1, Ordering::Relaxed)));
        Ok((make_file(&path).map_err(disk_fault)?, path))
    }

    /// Renames a complete and synced file to its final name. The caller must have the write lock on the
    /// index.
    pub(crate) fn place(&self, part: &Path, address: &BlobUri) -> Result<(), Fault> {
        let folder = self.files.join(address.kind.as_str());
        if !folder.is_dir() {
            make_folder(&folder).map_err(disk_fault)?;
            force(&self.files).map_err(disk_fault)?;
        }
        fs::rename(part, folder.join(address.file_name())).map_err(disk_fault)?;
        force(&folder).map_err(disk_fault)
    }

    /// Deletes a file; a missing file is no error. The caller must have the write lock on the index.
    pub(crate) fn remove(&self, address: &BlobUri) -> Result<(), Fault> {
        gone(fs::remove_file(self.path(address))).map_err(disk_fault)
    }

    /// Opens a file; `None` if it does not exist.
    pub(crate) fn open(&self, address: &BlobUri) -> Result<Option<File>, Fault> {
        match File::open(self.path(address)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(disk_fault(error)),
        }
    }

    /// All files with a valid name, and their sizes. Other files are ignored.
    pub(crate) fn files(&self) -> Result<HashMap<BlobUri, u64>, Fault> {
        let mut found = HashMap::new();
        for folder in fs::read_dir(&self.files).map_err(disk_fault)? {
            let folder = folder.map_err(disk_fault)?;
            let Some(kind) = folder.file_name().to_str().and_then(|name| ResourceType::new(name).ok()) else {
                continue;
            };
            if !folder.file_type().map_err(disk_fault)?.is_dir() {
                continue;
            }
            for file in fs::read_dir(folder.path()).map_err(disk_fault)? {
                let file = file.map_err(disk_fault)?;
                let name = file.file_name();
                if let Some(address) = name.to_str().and_then(|name| BlobUri::from_file_name(&kind, name)) {
                    found.insert(address, file.metadata().map_err(disk_fault)?.len());
                }
            }
        }
        Ok(found)
    }

    /// Deletes the incoming folders of dead processes. The caller must have the write lock on the index.
    /// Incoming folders are created under the same lock, so a folder without a locked file has no owner.
    pub(crate) fn clear_places(&self) -> Result<(), Fault> {
        for place in fs::read_dir(&self.incoming).map_err(disk_fault)? {
            let place = place.map_err(disk_fault)?.path();
            if place != self.own && is_deserted(&place) {
                gone(fs::remove_dir_all(&place)).map_err(disk_fault)?;
            }
        }
        Ok(())
    }

    fn path(&self, address: &BlobUri) -> PathBuf {
        self.files.join(address.kind.as_str()).join(address.file_name())
    }
}

impl Drop for BlobFolder {
    fn drop(&mut self) {
        // The next process deletes any remaining files.
        let _ = fs::remove_dir_all(&self.own);
    }
}

fn is_deserted(place: &Path) -> bool {
    match File::open(place.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Creates a folder and its parents, readable by the owner only.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn make_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Syncs a folder, so that its names survive a power failure.
fn force(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
