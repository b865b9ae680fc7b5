//! Bringing a resource piece by piece.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use failwell_fault::{Fault, Retry, reason};
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use crate::address::Digest;
use crate::folder::Folder;
use crate::kept::{Kept, New};
use crate::settings::ShelfSettings;
use crate::shelf::{Shelf, check_metadata};
use crate::trouble::{of_disk, of_task};

/// How much is gathered before the disk is asked.
const GATHERED: usize = 256 * 1024;

/// A resource that is being brought. Dropped before [`Deposit::finish`], nothing of it is left.
#[derive(Debug)]
pub struct Deposit {
    shelf: Shelf,
    /// What was said of it, if that is known already.
    new: Option<New>,
    /// Not there while the disk has it, and after a failure.
    part: Option<Part>,
    gathered: Vec<Bytes>,
    waiting: usize,
}

impl Deposit {
    pub(crate) fn new(shelf: Shelf, new: Option<New>, part: Part) -> Deposit {
        Deposit { shelf, new, part: Some(part), gathered: Vec::new(), waiting: 0 }
    }

    /// Takes the next piece.
    pub async fn write(&mut self, piece: Bytes) -> Result<(), Fault> {
        self.waiting += piece.len();
        self.gathered.push(piece);
        if self.waiting >= GATHERED { self.flush().await } else { Ok(()) }
    }

    /// Keeps it as what it was begun as.
    pub async fn finish(mut self) -> Result<Kept, Fault> {
        let new = self.new.take().ok_or_else(broken)?;
        self.finish_as(new).await
    }

    /// Keeps it as this, for what was not known when it was begun.
    pub async fn finish_as(mut self, new: New) -> Result<Kept, Fault> {
        check_metadata(&new.metadata)?;
        self.flush().await?;
        let part = self.part.take().ok_or_else(broken)?;
        self.shelf.keep(new, part).await
    }

    async fn flush(&mut self) -> Result<(), Fault> {
        let mut part = self.part.take().ok_or_else(broken)?;
        let pieces = std::mem::take(&mut self.gathered);
        self.waiting = 0;
        let settings = self.shelf.settings();
        let written = spawn_blocking(move || {
            pieces.iter().try_for_each(|piece| part.write(piece, &settings)).map(|()| part)
        });
        self.part = Some(written.await.map_err(of_task)??);
        Ok(())
    }
}

fn broken() -> Fault {
    Fault::new(&reason::SHELF_TROUBLE)
        .note("deposit", "it failed before and was used again, or nobody said what it is")
}

/// How much is being brought at once.
#[derive(Debug, Default)]
pub(crate) struct Load {
    bytes: AtomicU64,
    deposits: AtomicUsize,
}

/// A file that is being written. It is gone when this is dropped, unless it was given its name.
#[derive(Debug)]
pub(crate) struct Part {
    file: File,
    path: PathBuf,
    hasher: Sha256,
    size: u64,
    load: Arc<Load>,
}

impl Part {
    pub(crate) fn begin(folder: &Folder, load: &Arc<Load>, settings: &ShelfSettings) -> Result<Part, Fault> {
        let turn = Turn::take(load, settings.most_deposits)?;
        let (file, path) = folder.part()?;
        Ok(Part { file, path, hasher: Sha256::new(), size: 0, load: turn.keep() })
    }

    /// Writes a piece, within the size of one and of all that are being brought.
    pub(crate) fn write(&mut self, piece: &[u8], settings: &ShelfSettings) -> Result<(), Fault> {
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
        self.file.write_all(piece).map_err(of_disk)
    }

    /// Forces it to the disk; says what is in it.
    pub(crate) fn complete(&mut self) -> Result<(Digest, u64), Fault> {
        self.file.sync_all().map_err(of_disk)?;
        Ok((Digest::of(&self.hasher.finalize_reset()), self.size))
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        &self.path
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Gone already where it was given its name.
        let _ = std::fs::remove_file(&self.path);
        self.load.bytes.fetch_sub(self.size, Ordering::Relaxed);
        self.load.deposits.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One of the places for what is being brought.
struct Turn(Option<Arc<Load>>);

impl Turn {
    fn take(load: &Arc<Load>, most: usize) -> Result<Turn, Fault> {
        let turn = Turn(Some(load.clone()));
        match load.deposits.fetch_add(1, Ordering::Relaxed) < most {
            true => Ok(turn),
            false => Err(Fault::new(&reason::SERVER_BUSY).fact("limit", most)),
        }
    }

    /// From now on somebody else gives it back.
    fn keep(mut self) -> Arc<Load> {
        self.0.take().unwrap_or_default()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(load) = &self.0 {
            load.deposits.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Whether one resource may have this many bytes.
pub(crate) fn check_size(size: u64, settings: &ShelfSettings) -> Result<(), Fault> {
    if size <= settings.largest {
        return Ok(());
    }
    let large = Fault::new(&reason::SHELF_TOO_LARGE).fact("size", size).fact("limit", settings.largest);
    Err(large.retry_as(Retry::AfterChange))
}
