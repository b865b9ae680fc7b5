//! A private folder outside of every project, removed when the server ends.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use failwell_fault::Ref;

/// The number of attempts to remove the folder, and the pause between them.
const LOOKS: usize = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

/// The prefix of the folder's name.
const BEGINNING: &str = "failwell-pytest-";
/// A file in the folder that is locked while its server runs.
const LOCK: &str = "lock";

#[derive(Debug)]
pub(crate) struct RunFolder(PathBuf, #[allow(dead_code, reason = "held, not read")] File);

impl RunFolder {
    /// Creates a folder that only this user can access.
    pub(crate) fn make() -> io::Result<RunFolder> {
        use std::os::unix::fs::DirBuilderExt;
        remove_abandoned();
        let path = std::env::temp_dir().join(format!("{BEGINNING}{}", Ref::fresh()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        // The file is locked before it gets the name that other servers check.
        let (early, lock) = (path.join("locking"), path.join(LOCK));
        let file = File::create(&early)?;
        file.lock()?;
        std::fs::rename(early, lock)?;
        Ok(RunFolder(path, file))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Removes folders of killed servers, which could not remove them. Their locks are free.
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

impl Drop for RunFolder {
    fn drop(&mut self) {
        // A run that is being ended may still create files in the folder, so it is checked again.
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
    use super::{LOCK, RunFolder};

    #[test]
    fn folders_of_killed_servers_are_removed_and_others_are_not() {
        let alive = RunFolder::make().expect("a folder");
        let abandoned = std::env::temp_dir().join("failwell-pytest-abandoned");
        std::fs::create_dir_all(&abandoned).expect("a folder");
        std::fs::write(abandoned.join(LOCK), "").expect("a lock");
        let another = RunFolder::make().expect("a folder");
        assert!(alive.path().is_dir() && another.path().is_dir() && !abandoned.exists());
        let path = alive.path().to_owned();
        drop(alive);
        assert!(!path.exists());
    }
}
