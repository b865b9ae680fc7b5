//! Which file a path leads to.

use std::path::Path;

/// Device and number of a file. Two paths with the same identity lead to the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileIdentity(Option<(u64, u64)>);

impl FileIdentity {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> FileIdentity {
        use std::os::unix::fs::MetadataExt;
        FileIdentity(path.metadata().ok().map(|file| (file.dev(), file.ino())))
    }

    /// Other systems do not let an open file be removed.
    #[cfg(not(unix))]
    pub(super) fn of(_path: &Path) -> FileIdentity {
        FileIdentity(None)
    }
}
