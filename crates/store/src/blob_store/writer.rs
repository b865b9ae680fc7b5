//! Uploads a resource in pieces.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use failwell_fault::{Fault, Retry, reason};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use crate::blob_store::errors::{disk_fault, task_fault};
use crate::blob_store::folder::BlobFolder;
use crate::blob_store::settings::BlobStoreSettings;
use crate::blob_store::store::{BlobStore, check_metadata};
use crate::blob_store::stored_file::{NewFile, StoredFile};
use crate::blob_store::uri::Sha256Hex;

/// Bytes to buffer before a write to disk.
const GATHERED: usize = 256 * 1024;

/// An upload in progress. Dropping it before [`FileWriter::finish`] deletes the partial file.
#[derive(Debug)]
pub struct FileWriter {
    blobs: BlobStore,
    /// The description of the resource, if known at the start.
    new: Option<NewFile>,
    /// `None` during a write on a blocking thread, and after a failure.
    part: Option<PartialFile>,
    gathered: Vec<Bytes>,
    waiting: usize,
}

impl FileWriter {
    pub(crate) fn new(blobs: BlobStore, new: Option<NewFile>, part: PartialFile) -> FileWriter {
        FileWriter { blobs, new, part: Some(part), gathered: Vec::new(), waiting: 0 }
    }

    pub async fn write(&mut self, piece: Bytes) -> Result<(), Fault> {
        self.waiting += piece.len();
        self.gathered.push(piece);
        if self.waiting >= GATHERED { self.flush().await } else { Ok(()) }
    }

    /// Stores the resource with the description given at the start.
    pub async fn finish(mut self) -> Result<StoredFile, Fault> {
        let new = self.new.take().ok_or_else(broken)?;
        self.finish_as(new).await
    }

    /// Stores the resource with this description, if it was unknown at the start.
    pub async fn finish_as(mut self, new: NewFile) -> Result<StoredFile, Fault> {
        check_metadata(&new.metadata)?;
        self.flush().await?;
        let part = self.part.take().ok_or_else(broken)?;
        self.blobs.keep(new, part).await
    }

    async fn flush(&mut self) -> Result<(), Fault> {
        let mut part = self.part.take().ok_or_else(broken)?;
        let pieces = std::mem::take(&mut self.gathered);
        self.waiting = 0;
        let settings = self.blobs.settings();
        let written = spawn_blocking(move || {
            pieces.iter().try_for_each(|piece| part.write(piece, &settings)).map(|()| part)
        });
        self.part = Some(written.await.map_err(task_fault)??);
        Ok(())
    }
}

fn broken() -> Fault {
    Fault::new(&reason::SHELF_TROUBLE).note("deposit", "it failed before, or it has no description")
}

/// The total of all uploads in progress.
#[derive(Debug, Default)]
pub(crate) struct UploadLoad {
    bytes: AtomicU64,
    deposits: AtomicUsize,
}

/// A partial file. Dropping it deletes the file, unless the file has its final name.
#[derive(Debug)]
pub(crate) struct PartialFile {
    file: File,
    path: PathBuf,
    hasher: Sha256,
    size: u64,
    load: Arc<UploadLoad>,
}

impl PartialFile {
    pub(crate) fn begin(
        folder: &BlobFolder,
        load: &Arc<UploadLoad>,
        settings: &BlobStoreSettings,
    ) -> Result<PartialFile, Fault> {
        let turn = UploadSlot::take(load, settings.most_deposits)?;
        let (file, path) = folder.part()?;
        Ok(PartialFile { file, path, hasher: Sha256::new(), size: 0, load: turn.keep() })
    }

    /// Writes a piece. Enforces the maximum size of one resource and of all uploads together.
    pub(crate) fn write(&mut self, piece: &[u8], settings: &BlobStoreSettings) -> Result<(), Fault> {
        let more = piece.len() as u64;
        check_size(self.size.saturating_add(more), settings)?;
        self.size += more;
        let before = self.load.bytes.fetch_add(more, Ordering::Relaxed);
        if before.saturating_add(more) > settings.most_bytes {
            let free = settings.most_bytes.saturating_sub(before);
            let full = Fault::new(&reason::SHELF_FULL).fact("size", self.size).fact("free", free);
            return Err(full.fact("limit", settings.most_bytes));
        }
        self.hasher.update(piece);
        self.file.write_all(piece).map_err(disk_fault)
    }

    /// Syncs the file to disk and returns its hash and size.
    pub(crate) fn complete(&mut self) -> Result<(Sha256Hex, u64), Fault> {
        self.file.sync_all().map_err(disk_fault)?;
        Ok((Sha256Hex::from_bytes(&self.hasher.finalize_reset()), self.size))
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        &self.path
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // The path no longer exists if the file has its final name.
        let _ = std::fs::remove_file(&self.path);
        self.load.bytes.fetch_sub(self.size, Ordering::Relaxed);
        self.load.deposits.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A permit for one upload.
struct UploadSlot(Option<Arc<UploadLoad>>);

impl UploadSlot {
    fn take(load: &Arc<UploadLoad>, most: usize) -> Result<UploadSlot, Fault> {
        let turn = UploadSlot(Some(load.clone()));
        match load.deposits.fetch_add(1, Ordering::Relaxed) < most {
            true => Ok(turn),
            false => Err(Fault::new(&reason::SERVER_BUSY).fact("limit", most)),
        }
    }

    /// Transfers the release of the permit to the caller.
    fn keep(mut self) -> Arc<UploadLoad> {
        self.0.take().unwrap_or_default()
    }
}

impl Drop for UploadSlot {
    fn drop(&mut self) {
        if let Some(load) = &self.0 {
            load.deposits.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Enforces the maximum size of one resource.
pub(crate) fn check_size(size: u64, settings: &BlobStoreSettings) -> Result<(), Fault> {
    if size <= settings.largest {
        return Ok(());
    }
    let large = Fault::new(&reason::SHELF_TOO_LARGE).fact("size", size).fact("limit", settings.largest);
    Err(large.retry_as(Retry::AfterChange))
}
