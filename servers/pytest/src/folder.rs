//! A private folder outside every project, gone when the server is.

use std::io;
use std::path::{Path, PathBuf};

use failwell_fault::Ref;

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
        // Somebody may still be writing into it; a second look gets the rest.
        if std::fs::remove_dir_all(&self.0).is_err() {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
