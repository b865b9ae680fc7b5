//! The files: `kept/<type>/<sha256><ext>`, and for every program that uses the folder a place of its own under `incoming`.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use failwell_fault::Fault;

use crate::address::{Address, Kind};
use crate::trouble::of_disk;

/// Held by the program whose place it is; a place whose lock is free belongs to nobody any more.
const LOCK: &str = "lock";

/// The folder of one shelf.
pub(crate) struct Folder {
    kept: PathBuf,
    incoming: PathBuf,
    own: PathBuf,
    next: AtomicU64,
    #[expect(dead_code, reason = "held for as long as the place is used")]
    lock: File,
}

impl Folder {
    /// Makes what is not there yet. Whoever calls holds the index.
    pub(crate) fn make(root: &Path) -> Result<Folder, Fault> {
        let (kept, incoming) = (root.join("kept"), root.join("incoming"));
        for folder in [&kept, &incoming] {
            make_folder(folder).map_err(of_disk)?;
        }
        let mut number = [0u8; 8];
        getrandom::fill(&mut number).map_err(io::Error::other).map_err(of_disk)?;
        let own = incoming.join(format!("{:016x}", u64::from_le_bytes(number)));
        make_folder(&own).map_err(of_disk)?;
        let lock = make_file(&own.join(LOCK)).map_err(of_disk)?;
        lock.try_lock().map_err(io::Error::from).map_err(of_disk)?;
        Ok(Folder { kept, incoming, own, next: AtomicU64::new(1), lock })
    }

    /// A file to write into, with its path.
    pub(crate) fn part(&self) -> Result<(File, PathBuf), Fault> {
        let path = self.own.join(format!("{}.part", self.next.fetch_add(1, Ordering::Relaxed)));
        Ok((make_file(&path).map_err(of_disk)?, path))
    }

    /// Gives a file that is whole and on disk its name. Whoever calls holds the index.
    pub(crate) fn place(&self, part: &Path, address: &Address) -> Result<(), Fault> {
        let folder = self.kept.join(address.kind.as_str());
        if !folder.is_dir() {
            make_folder(&folder).map_err(of_disk)?;
            force(&self.kept).map_err(of_disk)?;
        }
        fs::rename(part, folder.join(address.file_name())).map_err(of_disk)?;
        force(&folder).map_err(of_disk)
    }

    /// Removes a file; one that is gone already is no trouble. Whoever calls holds the index.
    pub(crate) fn remove(&self, address: &Address) -> Result<(), Fault> {
        gone(fs::remove_file(self.path(address))).map_err(of_disk)
    }

    /// Opens a file; `None` when it is not there.
    pub(crate) fn open(&self, address: &Address) -> Result<Option<File>, Fault> {
        match File::open(self.path(address)) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(of_disk(error)),
        }
    }

    /// Every file that is named as ours are, with its size. Others are left alone.
    pub(crate) fn files(&self) -> Result<HashMap<Address, u64>, Fault> {
        let mut found = HashMap::new();
        for folder in fs::read_dir(&self.kept).map_err(of_disk)? {
            let folder = folder.map_err(of_disk)?;
            let Some(kind) = folder.file_name().to_str().and_then(|name| Kind::new(name).ok()) else {
                continue;
            };
            if !folder.file_type().map_err(of_disk)?.is_dir() {
                continue;
            }
            for file in fs::read_dir(folder.path()).map_err(of_disk)? {
                let file = file.map_err(of_disk)?;
                let name = file.file_name();
                if let Some(address) = name.to_str().and_then(|name| Address::of_file(&kind, name)) {
                    found.insert(address, file.metadata().map_err(of_disk)?.len());
                }
            }
        }
        Ok(found)
    }

    /// Removes the places of programs that are no more. Whoever calls holds the index, and places are made under it:
    /// one without a lock that is held is nobody's.
    pub(crate) fn clear_places(&self) -> Result<(), Fault> {
        for place in fs::read_dir(&self.incoming).map_err(of_disk)? {
            let place = place.map_err(of_disk)?.path();
            if place != self.own && is_deserted(&place) {
                gone(fs::remove_dir_all(&place)).map_err(of_disk)?;
            }
        }
        Ok(())
    }

    fn path(&self, address: &Address) -> PathBuf {
        self.kept.join(address.kind.as_str()).join(address.file_name())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What stays is removed by whoever comes next.
        let _ = fs::remove_dir_all(&self.own);
    }
}

fn is_deserted(place: &Path) -> bool {
    match File::open(place.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Makes a folder for its owner alone, and those above it.
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

/// Makes sure that names of a folder survive a power cut.
fn force(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
