//! The quota: space for a new resource. Expired resources are deleted first, oldest first; then the upload is
//! refused.

use std::time::Duration;

use failwell_fault::{Fault, Retry, reason};
use rusqlite::Transaction;

use crate::blob_store::errors::index_fault;
use crate::blob_store::folder::BlobFolder;
use crate::blob_store::rows::{self, Totals};
use crate::blob_store::settings::BlobStoreSettings;
use crate::blob_store::uri::BlobUri;

/// Maximum number of deletions at once.
const BATCH: usize = 64;

/// The retry delay after a refusal: resources may expire meanwhile.
const WAIT: Duration = Duration::from_secs(60);

/// Frees space and returns URI and owner of deleted resources, or refuses the upload.
pub(crate) fn make_room(
    transaction: &Transaction<'_>,
    folder: &BlobFolder,
    (owner, size): (&str, u64),
    settings: &BlobStoreSettings,
) -> Result<Vec<(String, String)>, Fault> {
    let mut removed = Vec::new();
    loop {
        let total = rows::total(transaction).map_err(index_fault)?;
        let own = rows::total_of(transaction, owner).map_err(index_fault)?;
        // Resources without an owner belong to callers that are not told apart.
        let share = if owner.is_empty() { Ok(()) } else { fits_share(own, size, settings) };
        let Err(refusal) = fits(total, size, settings).and(share) else { return Ok(removed) };
        let gone = remove_expired(transaction, folder)?;
        if gone.is_empty() {
            return Err(refusal);
        }
        removed.extend(gone);
    }
}

/// Deletes a batch of expired resources and returns their URIs and owners.
pub(crate) fn remove_expired(
    transaction: &Transaction<'_>,
    folder: &BlobFolder,
) -> Result<Vec<(String, String)>, Fault> {
    let expired = rows::expired(transaction, BATCH).map_err(index_fault)?;
    for (address, owner) in &expired {
        remove_one(transaction, folder, address, owner)?;
    }
    Ok(expired.into_iter().map(|(address, owner)| (address.to_string(), owner)).collect())
}

/// Deletes the resource of an owner, and its file if no other owner has the same bytes.
pub(crate) fn remove_one(
    transaction: &Transaction<'_>,
    folder: &BlobFolder,
    address: &BlobUri,
    owner: &str,
) -> Result<(), Fault> {
    rows::remove(transaction, address, owner).map_err(index_fault)?;
    match rows::is_used(transaction, address).map_err(index_fault)? {
        true => Ok(()),
        false => folder.remove(address),
    }
}

/// The share of one owner.
fn fits_share(own: Totals, size: u64, settings: &BlobStoreSettings) -> Result<(), Fault> {
    let most = settings.most_bytes_of_one.min(settings.most_bytes);
    let free = most.saturating_sub(own.bytes);
    if size > free {
        let full = Fault::new(&reason::SHELF_SHARE_FULL).fact("size", size).fact("free", free);
        return Err(full.fact("limit", most).retry_as(Retry::After(WAIT)));
    }
    let most = settings.most_items_of_one.min(settings.most_items);
    if own.items >= most {
        let crowded = Fault::new(&reason::SHELF_SHARE_CROWDED).fact("count", own.items);
        return Err(crowded.fact("limit", most).retry_as(Retry::After(WAIT)));
    }
    Ok(())
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
