//! The blob store for stored files.

use failwell_controls::{SHELF_SERVER, StoredFiles};
use failwell_gateway::Gateway;
use failwell_store::blob_store::BlobStore;

use crate::config::Config;

/// The blob store, if it is enabled. An existing folder is opened and cleaned up at once. A missing folder is
/// created on first use.
pub(in crate::commands) fn open(config: &Config) -> Option<BlobStore> {
    if !config.shelf.enabled {
        return None;
    }
    let (folder, settings) = (config.shelf_folder(), config.shelf.settings.clone());
    let blobs = BlobStore::at(&folder, settings);
    if folder.is_dir() {
        // An error while opening it is reported to the first request that needs it.
        let opened = blobs.clone();
        std::thread::spawn(move || opened.ready().is_ok());
    }
    Some(blobs)
}

/// The stored files under the access rules of a gateway.
pub(in crate::commands) fn stored_files(
    blobs: &BlobStore,
    gateway: &Gateway,
    config: &Config,
) -> StoredFiles {
    let gateway = gateway.clone();
    let files = StoredFiles::ruled(
        blobs.clone(),
        std::sync::Arc::new(move |caller, uri| gateway.check_resource(caller, SHELF_SERVER, uri)),
    );
    files.share_with(config.shelf.all_files.clone());
    files
}
