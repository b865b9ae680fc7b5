//! A private folder outside every project, gone when the server is.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use failwell_fault::Ref;

/// How often the folder is looked at when it is removed, and how long between.
const LOOKS: usize = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(30);

/// The folder.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes one that only this user can look into.
    pub(crate) fn make() -> io::Result<Folder> {
        use std::os::unix::fs::DirBuilderExt;
        let path = std::env::temp_dir().join(format!("failwell-pytest-{}", Ref::fresh()));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder(path))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
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
