//! The quota: space for a new resource. Expired resources are deleted first, oldest first; then the upload is
//! refused.

use std::time::Duration;

use failwell_fault::{Fault, Retry, reason};
use rusqlite::Transaction;

use crate::blob_store::errors::index_fault;
use crate::blob_store::folder::BlobFolder;
use crate::blob_store::rows::{self, Totals};
use crate::blob_store::settings::BlobStoreSettings;

/// Maximum number of deletions at once.
const BATCH: usize = 64;

/// The retry delay after a refusal: resources may expire meanwhile.
const WAIT: Duration = Duration::from_secs(60);

/// Frees space and returns the URIs of deleted resources, or refuses the upload.
pub(crate) fn make_room(
    transaction: &Transaction<'_>,
    folder: &BlobFolder,
    size: u64,
    settings: &BlobStoreSettings,
) -> Result<Vec<String>, Fault> {
    let mut removed = Vec::new();
    loop {
        let total = rows::total(transaction).map_err(index_fault)?;
        let Err(refusal) = fits(total, size, settings) else { return Ok(removed) };
        let gone = remove_expired(transaction, folder)?;
        if gone.is_empty() {
            return Err(refusal);
        }
        removed.extend(gone);
    }
}

/// Deletes a batch of expired resources and returns their URIs.
pub(crate) fn remove_expired(
    transaction: &Transaction<'_>,
    folder: &BlobFolder,
) -> Result<Vec<String>, Fault> {
    let expired = rows::expired(transaction, BATCH).map_err(index_fault)?;
    for (address, _) in &expired {
        folder.remove(address)?;
        rows::remove(transaction, address).map_err(index_fault)?;
    }
    Ok(expired.into_iter().map(|(address, _)| address.to_string()).collect())
}

fn fits(total: Totals, size: u64, settings: &BlobStoreSettings) -> Result<(), Fault> {
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
