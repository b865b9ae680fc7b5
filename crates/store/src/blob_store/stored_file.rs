use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

use crate::blob_store::uri::{Extension, ResourceType};

/// The description of a new resource.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFile {
    /// The name of the owner; empty if callers are not told apart.
    pub owner: String,
    pub kind: ResourceType,
    pub extension: Extension,
    /// The lifetime; `None` selects the store's default.
    pub ttl: Option<Duration>,
    pub metadata: Map<String, Value>,
}

/// A stored resource.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredFile {
    /// The name of the owner; empty if callers were not told apart when it was stored.
    pub owner: String,
    /// `resource://{type}/{sha256}{ext}`
    pub uri: String,
    pub kind: ResourceType,
    /// The SHA-256 of the bytes, in hexadecimal.
    pub sha256: String,
    pub extension: Extension,
    /// The size in bytes.
    pub size: u64,
    /// The media type that the extension implies.
    pub media_type: &'static str,
    /// The time of the first upload.
    pub created: SystemTime,
    pub expires: SystemTime,
    pub metadata: Map<String, Value>,
}

/// The resources that a request may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAccess {
    owner: String,
    all: bool,
}

impl FileAccess {
    /// Those of one owner. Resources without an owner may be read.
    pub fn owned_by(owner: &str) -> FileAccess {
        FileAccess { owner: owner.to_owned(), all: false }
    }

    /// Those of all owners. Where several have the same bytes, those of `owner` come first.
    pub fn all(owner: &str) -> FileAccess {
        FileAccess { owner: owner.to_owned(), all: true }
    }

    pub fn owner(&self) -> &str {
        &self.owner
    }

    pub fn reaches_all(&self) -> bool {
        self.all
    }
}

/// Selects a page of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListFilter {
    pub kind: Option<ResourceType>,
    /// The cursor of the previous page.
    pub after: Option<String>,
    /// Maximum number of resources; `None` selects the default page size.
    pub most: Option<usize>,
}

/// A page of the list, newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePage {
    pub items: Vec<StoredFile>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// A change of the store, with the URI and the owner of the resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreChange {
    Added(String, String),
    /// The metadata or expiry changed. The bytes of a resource never change.
    Updated(String, String),
    Removed(String, String),
    /// Another process changed the same folder.
    Elsewhere,
}
