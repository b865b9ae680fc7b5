//! The blob store: resources as files on disk, named by their content: `resource://{type}/{sha256}{ext}`.
//!
//! [`BlobStore::put`] stores bytes in memory, [`BlobStore::begin`] takes an upload in pieces, and
//! [`BlobStore::fetch`] reads. A SQLite file in the same folder holds sizes, times and metadata.
//!
//! # Invariants
//!
//! * A file under its final name is complete, even after a crash. Bytes are written elsewhere in the same
//!   folder, synced to disk, and renamed. The next process that opens the folder removes partial files.
//! * A row and its file change in one transaction with the write lock on the index. Several processes can
//!   therefore use one folder.
//! * Only [`ResourceType`], [`Extension`] and a hash become part of a path, and no other text.
//! * An expired resource does not exist for callers, before and after the sweeper deletes it.
//! * A resource belongs to its owner. Equal bytes of several owners are one file with a row for each; a row that a
//!   request may not use does not exist for it.
//! * Sizes, counts, metadata and concurrent uploads are bounded. Only the owner can read the folder.
//! * Absent on purpose: callers (an owner is a name), policy, the wire.

mod accessible_files;
mod errors;
mod file_name;
mod folder;
mod index;
mod media_type;
mod quota;
mod reader;
mod rows;
mod settings;
mod store;
mod stored_file;
mod sweep;
mod uri;
mod writer;

pub use accessible_files::AccessibleFiles;
pub use file_name::FileName;
pub use media_type::{extension_of, is_text, media_type};
pub use reader::FileReader;
pub use settings::{BlobStoreSettings, LARGEST_METADATA};
pub use store::BlobStore;
pub use stored_file::{FileAccess, FilePage, ListFilter, NewFile, StoreChange, StoredFile};
pub use uri::{BlobUri, Extension, ResourceType, SCHEME};
pub use writer::FileWriter;
