//! The resources of a store that a request may use. Others look like unknown ones.

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use serde_json::{Map, Value};

use crate::blob_store::errors::index_fault;
use crate::blob_store::index::millis;
use crate::blob_store::quota::remove_one;
use crate::blob_store::reader::FileReader;
use crate::blob_store::rows::{self, ResourceRow};
use crate::blob_store::store::{BlobStore, check_metadata, merge};
use crate::blob_store::stored_file::{FileAccess, FilePage, ListFilter, StoreChange, StoredFile};
use crate::blob_store::uri::BlobUri;

/// Default and maximum number of resources per page.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 1_000;

/// A store as one request sees it.
#[derive(Debug, Clone)]
pub struct AccessibleFiles {
    store: BlobStore,
    access: FileAccess,
}

impl AccessibleFiles {
    pub(crate) fn new(store: BlobStore, access: FileAccess) -> AccessibleFiles {
        AccessibleFiles { store, access }
    }

    /// The metadata of a resource.
    pub async fn describe(&self, uri: &str) -> Result<StoredFile, Fault> {
        let (address, access) = (BlobUri::parse(uri)?, self.access.clone());
        self.store.run_blocking(move |inner| inner.find(&address, &access)).await
    }

    pub async fn read(&self, uri: &str) -> Result<(StoredFile, Bytes), Fault> {
        let (address, access) = (BlobUri::parse(uri)?, self.access.clone());
        self.store.run_blocking(move |inner| inner.fetch(&address, &access)?.rest()).await
    }

    /// Opens a resource, to read all or a range of it in pieces.
    pub async fn fetch(&self, uri: &str) -> Result<FileReader, Fault> {
        let (address, access) = (BlobUri::parse(uri)?, self.access.clone());
        self.store.run_blocking(move |inner| inner.fetch(&address, &access)).await
    }

    /// A page of the list, newest first.
    pub async fn list(&self, wanted: ListFilter) -> Result<FilePage, Fault> {
        let below = match &wanted.after {
            None => i64::MAX,
            Some(cursor) => cursor.parse().map_err(|_| Fault::new(&reason::MCP_BAD_CURSOR))?,
        };
        let most = wanted.most.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
        let access = self.access.clone();
        self.store
            .run_blocking(move |inner| {
                // One more than requested, to detect a further page.
                let look = |index: &_| rows::list(index, wanted.kind.as_ref(), &access, below, most + 1);
                let mut found = inner.index.read(look)?;
                let more = found.len() > most;
                found.truncate(most);
                let next = found.last().filter(|_| more).map(|(number, _)| number.to_string());
                Ok(FilePage { items: found.into_iter().map(|(_, stored)| stored).collect(), next })
            })
            .await
    }

    /// Changes metadata member by member; `null` removes a member (RFC 7396, at the first level).
    pub async fn edit(&self, uri: &str, changes: Map<String, Value>) -> Result<StoredFile, Fault> {
        let (address, access) = (BlobUri::parse(uri)?, self.access.clone());
        self.store
            .run_blocking(move |inner| {
                let edited = inner.index.change(|transaction| {
                    let before =
                        rows::find_changeable(transaction, &address, &access).map_err(index_fault)?;
                    let StoredFile { mut metadata, expires, owner, .. } =
                        before.ok_or_else(|| address.unknown())?;
                    merge(&mut metadata, changes);
                    check_metadata(&metadata)?;
                    let (expires, metadata) = (millis(expires), &metadata);
                    let row = ResourceRow { address: &address, owner: &owner, expires, metadata };
                    rows::update(transaction, &row).map_err(index_fault)?;
                    let after = rows::find_any(transaction, &address, &owner).map_err(index_fault)?;
                    after.map(|(edited, _)| edited).ok_or_else(|| address.unknown())
                })?;
                inner.announce(StoreChange::Updated(edited.uri.clone(), edited.owner.clone()));
                Ok(edited)
            })
            .await
    }

    /// Removes a resource. Other owners of the same bytes keep theirs.
    pub async fn remove(&self, uri: &str) -> Result<StoredFile, Fault> {
        let (address, access) = (BlobUri::parse(uri)?, self.access.clone());
        self.store
            .run_blocking(move |inner| {
                let gone = inner.index.change(|transaction| {
                    let found = rows::find_changeable(transaction, &address, &access).map_err(index_fault)?;
                    let found = found.ok_or_else(|| address.unknown())?;
                    remove_one(transaction, &inner.folder, &address, &found.owner)?;
                    Ok(found)
                })?;
                inner.announce(StoreChange::Removed(gone.uri.clone(), gone.owner.clone()));
                Ok(gone)
            })
            .await
    }
}
