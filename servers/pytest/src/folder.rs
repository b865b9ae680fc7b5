//! A private folder outside every project, gone when the server is.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use failwell_fault::Ref;

/// How often the folder is looked at when it is removed, and how long between.
const LOOKS: usize = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

/// What the folder's name begins with.
const BEGINNING: &str = "failwell-pytest-";
/// A file in the folder that is locked as long as its server lives.
const LOCK: &str = "lock";

/// The folder.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf, #[allow(dead_code, reason = "held, not read")] File);

impl Folder {
    /// Makes one that only this user can look into.
    pub(crate) fn make() -> io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt;
        remove_abandoned();
        let path = std::env::temp_dir().join(format!("{BEGINNING}{}", Ref::fresh()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        // Locked before it has the name by which others look for it.
        let (early, lock) = (path.join("locking"), path.join(LOCK));
        let file = File::create(&early)?;
        file.lock()?;
        std::fs::rename(early, lock)?;
        Ok(Folder(path, file))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// A server that was killed could not remove its folder. Nobody holds its lock any more.
fn remove_abandoned() {
    let Ok(entries) = std::fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(BEGINNING))
    {
        let lock = File::open(entry.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A run that is being ended may still make a file or a folder in it, so it is looked at again.
        let mut absent = 0;
        for _ in 0..LOOKS {
            let _ = std::fs::remove_dir_all(&self.0);
            absent = if self.0.exists() { 0 } else { absent + 1 };
            if absent == 2 {
                return;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Folder, LOCK};

    #[test]
    fn folders_of_killed_servers_are_removed_and_others_are_not() {
        let alive = Folder::make().expect("a folder");
        let abandoned = std::env::temp_dir().join("failwell-pytest-abandoned");
        std::fs::create_dir_all(&abandoned).expect("a folder");
        std::fs::write(abandoned.join(LOCK), "").expect("a lock");
        let another = Folder::make().expect("a folder");
        assert!(alive.path().is_dir() && another.path().is_dir() && !abandoned.exists());
        let path = alive.path().to_owned();
        drop(alive);
        assert!(!path.exists());
    }
}
