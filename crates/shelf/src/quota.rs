//! Room for one more: what has expired goes first, the oldest before the others; then it is refused.

use std::time::Duration;

use failwell_fault::{Fault, Retry, reason};
use rusqlite::Transaction;

use crate::folder::Folder;
use crate::rows::{self, Total};
use crate::settings::ShelfSettings;
use crate::trouble::of_index;

/// How many are removed at once.
const BATCH: usize = 64;

/// When it may be worth trying again: something may have expired.
const WAIT: Duration = Duration::from_secs(60);

/// Makes room, or says what is missing; gives the URIs of what was removed.
pub(crate) fn make_room(
    transaction: &Transaction<'_>,
    folder: &Folder,
    size: u64,
    settings: &ShelfSettings,
) -> Result<Vec<String>, Fault> {
    let mut removed = Vec::new();
    loop {
        let total = rows::total(transaction).map_err(of_index)?;
        let Err(refusal) = fits(total, size, settings) else { return Ok(removed) };
        let gone = remove_expired(transaction, folder)?;
        if gone.is_empty() {
            return Err(refusal);
        }
        removed.extend(gone);
    }
}

/// Removes some of what has expired; gives their URIs.
pub(crate) fn remove_expired(transaction: &Transaction<'_>, folder: &Folder) -> Result<Vec<String>, Fault> {
    let expired = rows::expired(transaction, BATCH).map_err(of_index)?;
    for (address, _) in &expired {
        folder.remove(address)?;
        rows::remove(transaction, address).map_err(of_index)?;
    }
    Ok(expired.into_iter().map(|(address, _)| address.to_string()).collect())
}

fn fits(total: Total, size: u64, settings: &ShelfSettings) -> Result<(), Fault> {
    let free = settings.most_bytes.saturating_sub(total.bytes);
    if size > free {
        let full = Fault::new(&reason::SHELF_FULL).fact("size", size).fact("free", free);
        return Err(full.fact("limit", settings.most_bytes).retry_as(Retry::After(WAIT)));
    }
    if total.items >= settings.most_items {
        let crowded = Fault::new(&reason::SHELF_CROWDED).fact("count", total.items);
        return Err(crowded.fact("limit", settings.most_items).retry_as(Retry::After(WAIT)));
    }
    Ok(())
}
