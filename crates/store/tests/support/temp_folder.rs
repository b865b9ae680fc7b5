//! A folder for one test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A temporary folder that does not exist yet, removed on drop.
pub(crate) struct TempFolder(pub(crate) PathBuf);

impl TempFolder {
    pub(crate) fn new() -> TempFolder {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        TempFolder(std::env::temp_dir().join(format!("failwell-store-{}-{number}", std::process::id())))
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
