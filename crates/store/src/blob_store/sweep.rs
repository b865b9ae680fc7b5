//! Cleans up the folder: at the start, and periodically on a separate thread.

use std::collections::HashSet;
use std::sync::Weak;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use rusqlite::Transaction;

use crate::blob_store::errors::index_fault;
use crate::blob_store::folder::BlobFolder;
use crate::blob_store::quota::remove_expired;
use crate::blob_store::rows;
use crate::blob_store::store::OpenStore;
use crate::blob_store::stored_file::StoreChange;

/// Interval of checks for changes by other processes.
const LOOK: Duration = Duration::from_secs(1);

/// Makes rows and files agree. A row without its complete file is deleted. A file without a row is deleted
/// too, because it was never acknowledged. The caller must have the write lock on the index.
pub(crate) fn reconcile(transaction: &Transaction<'_>, folder: &BlobFolder) -> Result<(), Fault> {
    folder.clear_places()?;
    let files = folder.files()?;
    let mut used = HashSet::new();
    for (address, owner, size) in rows::all(transaction).map_err(index_fault)? {
        if files.get(&address) == Some(&size) {
            used.insert(address);
        } else {
            rows::remove(transaction, &address, &owner).map_err(index_fault)?;
        }
    }
    let mut left = files.keys().filter(|address| !used.contains(*address));
    left.try_for_each(|address| folder.remove(address))
}

/// Runs until the store is dropped. Also detects changes of the index by other processes. A failed step is
/// repeated at the next interval.
pub(crate) fn run_sweeper(blobs: &Weak<OpenStore>, ended: &Receiver<()>, mut version: i64) {
    let mut swept = Instant::now();
    loop {
        let Some(sweep) = blobs.upgrade().map(|inner| inner.settings().sweep) else { return };
        if ended.recv_timeout(sweep.min(LOOK)) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let Some(inner) = blobs.upgrade() else { return };
        if let Ok(seen) = inner.index.version()
            && seen != version
        {
            inner.announce(StoreChange::Elsewhere);
            version = seen;
        }
        if swept.elapsed() >= sweep {
            let _ = sweep_now(&inner);
            swept = Instant::now();
        }
    }
}

/// Deletes expired resources and leftovers of other processes.
pub(crate) fn sweep_now(inner: &OpenStore) -> Result<(), Fault> {
    loop {
        let gone = inner.index.change(|transaction| remove_expired(transaction, &inner.folder))?;
        if gone.is_empty() {
            break;
        }
        gone.into_iter().for_each(|(uri, owner)| inner.announce(StoreChange::Removed(uri, owner)));
    }
    match inner.take_needs_reconcile() {
        true => inner.index.change(|transaction| reconcile(transaction, &inner.folder)),
        false => inner.index.change(|_| inner.folder.clear_places()),
    }
}
