//! Screenshots, recordings and reports, stored for callers. Their names are content hashes, so equal files
//! are stored once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Echo, Fault};
use failwell_sdk::Content;
use failwell_store::blob_store::{BlobStore, Extension, FileAccess, NewFile, ResourceType};
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::reason;

/// Maximum number of bytes in memory. The oldest artifacts are evicted first.
const MOST: usize = 128 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArtifactKind {
    Screenshot,
    Recording,
    Report,
    JUnit,
}

impl ArtifactKind {
    fn folder(self) -> &'static str {
        match self {
            ArtifactKind::Screenshot => "screenshots",
            ArtifactKind::Recording => "recordings",
            ArtifactKind::Report | ArtifactKind::JUnit => "reports",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            ArtifactKind::Screenshot => ".png",
            ArtifactKind::Recording => ".json",
            ArtifactKind::Report => ".html",
            ArtifactKind::JUnit => ".xml",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            ArtifactKind::Screenshot => "image/png",
            ArtifactKind::Recording => "application/json",
            ArtifactKind::Report => "text/html",
            ArtifactKind::JUnit => "application/xml",
        }
    }
}

/// Something that is kept, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Link")]
pub(crate) struct ArtifactLink {
    /// Read it as a resource.
    pub(crate) uri: String,
    pub(crate) media_type: String,
    pub(crate) bytes: u64,
}

impl ArtifactLink {
    /// A content block that links to it.
    pub(crate) fn block(&self, name: &str) -> Content {
        Content::ResourceLink {
            uri: self.uri.clone(),
            name: name.to_owned(),
            mime_type: Some(self.media_type.clone()),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum ArtifactStore {
    /// On disk, as resources with their own permissions.
    StoredBlobs(BlobStore),
    /// In memory, until this program ends.
    MemoryArtifacts(Arc<Mutex<MemoryArtifacts>>),
}

/// Artifacts in memory, up to a total size.
#[derive(Debug, Default)]
pub(crate) struct MemoryArtifacts {
    /// By owner and URI.
    artifacts: HashMap<(String, String), (&'static str, Bytes)>,
    order: VecDeque<(String, String)>,
    size: usize,
}

impl ArtifactStore {
    pub(crate) fn new(blobs: Option<BlobStore>) -> ArtifactStore {
        blobs.map_or_else(|| ArtifactStore::MemoryArtifacts(Arc::default()), ArtifactStore::StoredBlobs)
    }

    pub(crate) fn is_persistent(&self) -> bool {
        matches!(self, ArtifactStore::StoredBlobs(_))
    }

    pub(crate) async fn put(
        &self,
        owner: &str,
        kind: ArtifactKind,
        bytes: Bytes,
    ) -> Result<ArtifactLink, Fault> {
        match self {
            ArtifactStore::StoredBlobs(blobs) => {
                let new = NewFile {
                    owner: owner.to_owned(),
                    kind: ResourceType::new(kind.folder())?,
                    extension: Extension::new(kind.extension())?,
                    ttl: None,
                    metadata: Map::from_iter([("server".to_owned(), Value::from("device"))]),
                };
                let stored = blobs.put(new, bytes).await?;
                Ok(ArtifactLink {
                    uri: stored.uri,
                    media_type: stored.media_type.to_owned(),
                    bytes: stored.size,
                })
            }
            ArtifactStore::MemoryArtifacts(memory) => Ok(memory.lock().put(owner, kind, bytes)),
        }
    }

    /// Reads an artifact of this owner. Those of others look like unknown ones.
    pub(crate) async fn read(&self, owner: &str, uri: &str) -> Result<(String, Bytes), Fault> {
        let nothing = || Fault::new(&reason::DEVICE_KEPT_NOTHING).fact("uri", Echo::of_caller(uri));
        match self {
            ArtifactStore::StoredBlobs(blobs) => {
                match blobs.accessible(FileAccess::owned_by(owner)).read(uri).await {
                    Ok((stored, bytes)) => Ok((stored.media_type.to_owned(), bytes)),
                    Err(fault)
                        if matches!(
                            fault.kind(),
                            failwell_fault::Kind::NotFound | failwell_fault::Kind::Malformed
                        ) =>
                    {
                        Err(nothing().absorbing(fault))
                    }
                    Err(fault) => Err(fault),
                }
            }
            ArtifactStore::MemoryArtifacts(memory) => {
                let memory = memory.lock();
                let found = memory.artifacts.get(&(owner.to_owned(), uri.to_owned()));
                found.map(|(media, bytes)| ((*media).to_owned(), bytes.clone())).ok_or_else(nothing)
            }
        }
    }
}

impl MemoryArtifacts {
    fn put(&mut self, owner: &str, kind: ArtifactKind, bytes: Bytes) -> ArtifactLink {
        let digest = Sha256::digest(&bytes);
        let name = hex::encode(digest);
        let uri = format!("resource://{}/{name}{}", kind.folder(), kind.extension());
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let key = (owner.to_owned(), uri.clone());
        if !self.artifacts.contains_key(&key) {
            self.size += bytes.len();
            self.artifacts.insert(key.clone(), (kind.media_type(), bytes));
            self.order.push_back(key);
        }
        while self.size > MOST && self.order.len() > 1 {
            let oldest = self.order.pop_front().and_then(|key| self.artifacts.remove(&key));
            self.size -= oldest.map_or(0, |(_, bytes)| bytes.len());
        }
        ArtifactLink { uri, media_type: kind.media_type().to_owned(), bytes: size }
    }
}
