//! `[shelf]`: stored files.

use std::path::PathBuf;
use std::time::Duration;

use failwell_rpc::Role;
use failwell_store::blob_store::BlobStoreSettings;

use super::keys::{
    SHELF_BYTES, SHELF_BYTES_OF_ONE, SHELF_ITEMS, SHELF_ITEMS_OF_ONE, SHELF_LONGEST_TTL, SHELF_TTL,
    SHELF_UPLOAD,
};
use super::parse::reader::{Reader, Section};
use super::policy::identity::roles;

/// The location and the limits of stored files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShelfConfig {
    pub(crate) enabled: bool,
    /// By default a subfolder of the state folder.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) settings: BlobStoreSettings,
    /// Roles whose holders use the files of all callers.
    pub(crate) all_files: Vec<String>,
}

impl Default for ShelfConfig {
    fn default() -> ShelfConfig {
        let all_files = vec![Role::Admin.as_str().to_owned()];
        ShelfConfig { enabled: true, folder: None, settings: BlobStoreSettings::default(), all_files }
    }
}

pub(super) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> ShelfConfig {
    let usual = ShelfConfig::default();
    let Some(section) = reader.table(root, "shelf") else { return usual };
    let folder = reader.folder_to_keep(&section, "folder");
    let mut number = |wanted| reader.number(&section, wanted);
    let settings = BlobStoreSettings {
        most_bytes: number(&SHELF_BYTES),
        most_items: number(&SHELF_ITEMS),
        most_bytes_of_one: number(&SHELF_BYTES_OF_ONE),
        most_items_of_one: number(&SHELF_ITEMS_OF_ONE),
        largest: number(&SHELF_UPLOAD),
        ttl: Duration::from_secs(number(&SHELF_TTL)),
        longest_ttl: Duration::from_secs(number(&SHELF_LONGEST_TTL)),
        ..usual.settings
    };
    if settings.largest > settings.most_bytes {
        let message = "`max_upload_bytes` is more than `max_bytes`";
        let help = "lower `max_upload_bytes` or raise `max_bytes`";
        let at = if section.has("max_upload_bytes") { "max_upload_bytes" } else { "max_bytes" };
        reader.wrong(&section.key_span(at), &section.path(at), message, help);
    }
    if settings.ttl > settings.longest_ttl {
        let help = "lower `ttl_s` or raise `max_ttl_s`";
        let at = if section.has("ttl_s") { "ttl_s" } else { "max_ttl_s" };
        reader.wrong(&section.key_span(at), &section.path(at), "`ttl_s` is more than `max_ttl_s`", help);
    }
    let all_files = match section.has("all_files") {
        true => roles(reader, &section, "all_files"),
        false => usual.all_files,
    };
    let enabled = reader.flag(&section, "enabled").unwrap_or(usual.enabled);
    ShelfConfig { enabled, folder, settings, all_files }
}
