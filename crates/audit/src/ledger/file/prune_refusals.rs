//! The share of refusals: they are removed from the middle of the chain, before they cost a record of a caller.

use failwell_render::Moment;
use rusqlite::{Connection, Transaction, params};

use super::{RecordClass, RecordDraft, SyncMode, add, head};
use crate::ledger::chain::RecordHash;
use crate::ledger::record_line::{Event, RemovedRange};
use crate::ledger::settings::Retention;

/// Maximum number of refusals removed at once, so that the record about it stays small.
const AT_ONCE: u64 = 1_000;

/// Refusals may use one part in this many of what retention allows.
const SHARE: u64 = 10;

/// One stored refusal: sequence number, time, hash.
type StoredRefusal = (i64, i64, Vec<u8>);

/// Removes a batch of the oldest refusals beyond their share. Returns the number removed.
pub(super) fn prune_refusals(
    transaction: &Transaction<'_>,
    keep: &Retention,
    used: u64,
    now: Moment,
) -> rusqlite::Result<u64> {
    let surplus = surplus(transaction, keep, used)?.min(AT_ONCE);
    if surplus == 0 {
        return Ok(0);
    }
    let oldest = oldest(transaction, surplus)?;
    let ranges = ranges(&oldest);
    let mut remove = transaction.prepare_cached("DELETE FROM record WHERE seq BETWEEN ?1 AND ?2")?;
    let mut note = transaction.prepare_cached("INSERT INTO gap (first, last, hash) VALUES (?1, ?2, ?3)")?;
    for range in &ranges {
        let hash = RecordHash::parse(&range.hash).unwrap_or_else(RecordHash::genesis);
        remove.execute([range.first, range.last])?;
        note.execute(params![range.first, range.last, hash.as_bytes()])?;
    }
    let records = oldest.len() as u64;
    let until = oldest.last().map_or(0, |(_, at, _)| *at);
    count_removed(transaction, RecordClass::Refusal as i64, records, until)?;
    let event = Event::RefusalsPruned { records, until: Moment::from_unix_millis(until).to_string(), ranges };
    add(transaction, head(transaction)?, &[RecordDraft::of_event(event, now)], SyncMode::Calm)?;
    Ok(records)
}

/// The number of refusals beyond their share. A tenth more is tolerated, so that they are removed in batches.
fn surplus(connection: &Connection, keep: &Retention, used: u64) -> rusqlite::Result<u64> {
    let refusals = count(connection, RecordClass::Refusal)?;
    let share = (keep.records / SHARE).max(1);
    if keep.records > 0 && refusals > share + share / 10 {
        return Ok(refusals - share);
    }
    if keep.bytes == 0 || used <= keep.bytes {
        return Ok(0);
    }
    let sizes = "SELECT coalesce(sum(length(body)), 0) FROM record WHERE class > 0 AND class = ?1";
    let bytes: i64 =
        connection.prepare_cached(sizes)?.query_row([RecordClass::Refusal as i64], |row| row.get(0))?;
    let is_large = u64::try_from(bytes).unwrap_or(0) > keep.bytes / SHARE;
    Ok(if is_large { refusals.div_ceil(2) } else { 0 })
}

pub(super) fn count(connection: &Connection, class: RecordClass) -> rusqlite::Result<u64> {
    let count = "SELECT count(*) FROM record WHERE class > 0 AND class = ?1";
    let found: i64 = connection.prepare_cached(count)?.query_row([class as i64], |row| row.get(0))?;
    Ok(u64::try_from(found).unwrap_or(0))
}

/// Adds to what retention removed in all.
pub(super) fn count_removed(
    transaction: &Transaction<'_>,
    class: i64,
    records: u64,
    until: i64,
) -> rusqlite::Result<()> {
    let add = "INSERT INTO removed (class, records, until) VALUES (?1, ?2, ?3) ON CONFLICT (class) \
        DO UPDATE SET records = records + excluded.records, until = max(until, excluded.until)";
    let records = i64::try_from(records).unwrap_or(i64::MAX);
    transaction.prepare_cached(add)?.execute((class, records, until)).map(|_| ())
}

fn oldest(connection: &Connection, most: u64) -> rusqlite::Result<Vec<StoredRefusal>> {
    let select = "SELECT seq, at, hash FROM record WHERE class > 0 AND class = ?1 ORDER BY seq LIMIT ?2";
    let mut select = connection.prepare_cached(select)?;
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    select.query_map((RecordClass::Refusal as i64, most), row)?.collect()
}

/// Joins neighbours.
fn ranges(oldest: &[StoredRefusal]) -> Vec<RemovedRange> {
    let mut ranges: Vec<RemovedRange> = Vec::new();
    for (seq, _, hash) in oldest {
        let hash = RecordHash::from_bytes(hash).unwrap_or_else(RecordHash::genesis).to_string();
        match ranges.last_mut() {
            Some(range) if range.last + 1 == *seq => (range.last, range.hash) = (*seq, hash),
            _ => ranges.push(RemovedRange { first: *seq, last: *seq, hash }),
        }
    }
    ranges
}
