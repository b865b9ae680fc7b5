//! Keeping the folder tidy: at the start, and every now and then on a thread of its own.

use std::sync::Weak;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use rusqlite::Transaction;

use crate::changes::Change;
use crate::folder::Folder;
use crate::quota::remove_expired;
use crate::rows;
use crate::shelf::Inner;
use crate::trouble::of_index;

/// How often changes of other programs are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// Makes rows and files agree: a row without its whole file is dropped, and so is a file that no row speaks of, because
/// nobody was ever told of it. Whoever calls holds the index.
pub(crate) fn reconcile(transaction: &Transaction<'_>, folder: &Folder) -> Result<(), Fault> {
    folder.clear_places()?;
    let mut files = folder.files()?;
    for (address, size) in rows::all(transaction).map_err(of_index)? {
        if files.get(&address) == Some(&size) {
            files.remove(&address);
        } else {
            rows::remove(transaction, &address).map_err(of_index)?;
        }
    }
    files.keys().try_for_each(|address| folder.remove(address))
}

/// Sweeps until the shelf is gone, and looks whether the index is another than the one that was opened. What fails is tried again the next time.
pub(crate) fn follow(shelf: &Weak<Inner>, ended: &Receiver<()>, mut version: i64) {
    let mut swept = Instant::now();
    loop {
        let Some(sweep) = shelf.upgrade().map(|inner| inner.settings().sweep) else { return };
        if ended.recv_timeout(sweep.min(LOOK)) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let Some(inner) = shelf.upgrade() else { return };
        if let Ok(seen) = inner.index.version()
            && seen != version
        {
            inner.announce(Change::Elsewhere);
            version = seen;
        }
        if swept.elapsed() >= sweep {
            let _ = sweep_now(&inner);
            swept = Instant::now();
        }
    }
}

/// Removes what has expired and what others left behind.
pub(crate) fn sweep_now(inner: &Inner) -> Result<(), Fault> {
    loop {
        let gone = inner.index.change(|transaction| remove_expired(transaction, &inner.folder))?;
        if gone.is_empty() {
            break;
        }
        gone.into_iter().for_each(|uri| inner.announce(Change::Removed(uri)));
    }
    match inner.was_untidy() {
        true => inner.index.change(|transaction| reconcile(transaction, &inner.folder)),
        false => inner.index.change(|_| inner.folder.clear_places()),
    }
}
