//! A temporary folder, and functions that inspect it.

#![allow(dead_code, reason = "not every test looks at everything")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use failwell_store::blob_store::{BlobStore, BlobStoreSettings, Extension, NewFile, ResourceType};
use serde_json::Map;
use sha2::{Digest, Sha256};

/// A temporary folder; dropping it deletes the folder.
pub(crate) struct TestStore(pub(crate) PathBuf);

impl TestStore {
    pub(crate) fn new(name: &str) -> TestStore {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("blobs-{name}-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        TestStore(folder)
    }

    pub(crate) fn blobs(&self, settings: BlobStoreSettings) -> BlobStore {
        BlobStore::open(&self.0, settings).expect("a blob store")
    }

    /// All stored files by their path below `kept`, with their bytes.
    pub(crate) fn kept(&self) -> BTreeMap<String, Vec<u8>> {
        files(&self.0.join("kept"))
    }

    /// All partial files, without lock files.
    pub(crate) fn incoming(&self) -> Vec<String> {
        files(&self.0.join("incoming")).into_keys().filter(|name| !name.ends_with("lock")).collect()
    }

    /// Checks that the name of every stored file is its hash.
    pub(crate) fn check_names(&self) -> usize {
        let kept = self.kept();
        for (path, bytes) in &kept {
            let name = path.rsplit('/').next().and_then(|file| file.split('.').next()).expect("a name");
            assert_eq!(name, hash(bytes), "{path}");
        }
        kept.len()
    }
}

impl Drop for TestStore {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                found.insert(path.strip_prefix(folder).expect("below").display().to_string(), bytes);
            }
        }
    }
    found
}

pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn new(kind: &str, extension: &str) -> NewFile {
    NewFile {
        owner: "key:alice".to_owned(),
        kind: ResourceType::new(kind).expect("a type"),
        extension: Extension::new(extension).expect("an ending"),
        ttl: None,
        metadata: Map::new(),
    }
}
