//! What is kept for callers: pictures, recordings, reports. By its content, so that the same picture is kept once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use failwell_fault::{Echo, Fault, reason};
use failwell_server::Content;
use failwell_shelf::{Extension, Kind, New, Shelf};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The most bytes kept in memory; the oldest go first.
const MOST: usize = 128 << 20;

/// What kind of thing is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Screenshot,
    Recording,
    Report,
    JUnit,
}

impl Sort {
    fn folder(self) -> &'static str {
        match self {
            Sort::Screenshot => "screenshots",
            Sort::Recording => "recordings",
            Sort::Report | Sort::JUnit => "reports",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Sort::Screenshot => ".png",
            Sort::Recording => ".json",
            Sort::Report => ".html",
            Sort::JUnit => ".xml",
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Sort::Screenshot => "image/png",
            Sort::Recording => "application/json",
            Sort::Report => "text/html",
            Sort::JUnit => "application/xml",
        }
    }
}

/// Something that is kept, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Link {
    /// Read it as a resource.
    pub(crate) uri: String,
    pub(crate) media_type: String,
    pub(crate) bytes: u64,
}

impl Link {
    /// A block that leads to it.
    pub(crate) fn block(&self, name: &str) -> Content {
        Content::ResourceLink {
            uri: self.uri.clone(),
            name: name.to_owned(),
            mime_type: Some(self.media_type.clone()),
        }
    }
}

/// Where things are kept.
#[derive(Debug, Clone)]
pub(crate) enum Keep {
    /// On disk, for everybody who may read it there.
    Shelf(Shelf),
    /// In memory, while this program runs.
    Memory(Arc<Mutex<Memory>>),
}

/// What is kept in memory, up to a size.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    kept: HashMap<String, (&'static str, Bytes)>,
    order: VecDeque<String>,
    size: usize,
}

impl Keep {
    pub(crate) fn new(shelf: Option<Shelf>) -> Keep {
        shelf.map_or_else(|| Keep::Memory(Arc::default()), Keep::Shelf)
    }

    pub(crate) fn is_shelved(&self) -> bool {
        matches!(self, Keep::Shelf(_))
    }

    /// Keeps it.
    pub(crate) async fn put(&self, sort: Sort, bytes: Bytes) -> Result<Link, Fault> {
        match self {
            Keep::Shelf(shelf) => {
                let new = New {
                    kind: Kind::new(sort.folder())?,
                    extension: Extension::new(sort.extension())?,
                    ttl: None,
                    metadata: Map::from_iter([("server".to_owned(), Value::from("device"))]),
                };
                let kept = shelf.put(new, bytes).await?;
                Ok(Link { uri: kept.uri, media_type: kept.media_type.to_owned(), bytes: kept.size })
            }
            Keep::Memory(memory) => Ok(lock(memory).put(sort, bytes)),
        }
    }

    /// Reads it back.
    pub(crate) async fn read(&self, uri: &str) -> Result<(String, Bytes), Fault> {
        let nothing = || Fault::new(&reason::DEVICE_KEPT_NOTHING).fact("uri", Echo::of_caller(uri));
        match self {
            Keep::Shelf(shelf) => match shelf.read(uri).await {
                Ok((kept, bytes)) => Ok((kept.media_type.to_owned(), bytes)),
                Err(fault)
                    if matches!(
                        fault.kind(),
                        failwell_fault::Kind::NotFound | failwell_fault::Kind::Malformed
                    ) =>
                {
                    Err(nothing().absorbing(fault))
                }
                Err(fault) => Err(fault),
            },
            Keep::Memory(memory) => {
                let memory = lock(memory);
                let found = memory.kept.get(uri);
                found.map(|(media, bytes)| ((*media).to_owned(), bytes.clone())).ok_or_else(nothing)
            }
        }
    }
}

fn lock(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Memory {
    fn put(&mut self, sort: Sort, bytes: Bytes) -> Link {
        let digest = Sha256::digest(&bytes);
        let name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let uri = format!("resource://{}/{name}{}", sort.folder(), sort.extension());
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if !self.kept.contains_key(&uri) {
            self.size += bytes.len();
            self.kept.insert(uri.clone(), (sort.media_type(), bytes));
            self.order.push_back(uri.clone());
        }
        while self.size > MOST && self.order.len() > 1 {
            let oldest = self.order.pop_front().and_then(|uri| self.kept.remove(&uri));
            self.size -= oldest.map_or(0, |(_, bytes)| bytes.len());
        }
        Link { uri, media_type: sort.media_type().to_owned(), bytes: size }
    }
}
