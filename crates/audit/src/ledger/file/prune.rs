//! Retention: removes old records. The chain stays verifiable from the last removed record on.

use failwell_fault::{Fault, OrFault, reason};
use failwell_render::Moment;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::prune_refusals::{count, count_removed, prune_refusals};
use super::{LedgerFile, RecordClass, RecordDraft, SyncMode, add, head, pruned};
use crate::ledger::chain::{ChainHead, RecordHash};
use crate::ledger::record_line::{Event, RecordLine};
use crate::ledger::settings::Retention;

/// Maximum number of records removed at once, so that the file is not locked for long.
const AT_ONCE: i64 = 10_000;

const DAY_MS: i64 = 86_400_000;

impl LedgerFile {
    /// Removes a batch of records that exceed the retention: refusals beyond their share first, then the oldest.
    /// Returns true if more may remain. The removal is itself a record, so that truncation by others is detected.
    pub(crate) fn prune(&mut self, keep: &Retention, now: Moment) -> Result<bool, Fault> {
        let done = self.begin().and_then(|transaction| {
            if prune_refusals(&transaction, keep, used(&transaction)?, now)? > 0 {
                transaction.commit()?;
                return Ok(true);
            }
            let before = pruned(&transaction)?.unwrap_or_else(ChainHead::genesis);
            let Some(through) = through(&transaction, keep, before, now)? else { return Ok(false) };
            cut(&transaction, through.min(before.seq + AT_ONCE), now)?;
            transaction.commit()?;
            Ok(true)
        });
        done.or_fault(&reason::AUDIT_FAILED)
    }
}

/// The last record to remove, if any.
fn through(
    connection: &Connection,
    keep: &Retention,
    before: ChainHead,
    now: Moment,
) -> rusqlite::Result<Option<i64>> {
    let end = head(connection)?.seq;
    let mut through = before.seq;
    through = through.max(beyond_the_number(connection, keep, before, end)?);
    if keep.days > 0 {
        let days = i64::try_from(keep.days).unwrap_or(i64::MAX);
        let oldest = now.unix_millis().saturating_sub(days.saturating_mul(DAY_MS));
        let first: Option<i64> = connection
            .prepare_cached("SELECT seq FROM record WHERE at >= ?1 ORDER BY seq LIMIT 1")?
            .query_row([oldest], |row| row.get(0))
            .optional()?;
        through = through.max(first.unwrap_or(end + 1) - 1);
    }
    if keep.bytes > 0 && used(connection)? > keep.bytes {
        through = through.max(before.seq + (end - before.seq) / 5);
    }
    // Keep the last record: the next one is chained to it.
    let through = through.min(end - 1);
    Ok((through > before.seq).then_some(through))
}

/// The last record beyond the allowed number, or 0. Refusals and events of the ledger do not count, so that they
/// remove no record of a caller.
fn beyond_the_number(
    connection: &Connection,
    keep: &Retention,
    before: ChainHead,
    end: i64,
) -> rusqlite::Result<i64> {
    let allowed = i64::try_from(keep.records).unwrap_or(i64::MAX);
    let gone: i64 = connection
        .prepare_cached("SELECT coalesce(sum(last - first + 1), 0) FROM gap")?
        .query_row([], |row| row.get(0))?;
    let apart = count(connection, RecordClass::Refusal)? + count(connection, RecordClass::Event)?;
    let present = end - before.seq - gone - i64::try_from(apart).unwrap_or(0);
    // Tolerate a tenth more than allowed, so that records are removed in batches and not one by one.
    if allowed == 0 || present <= allowed.saturating_add(allowed / 10) {
        return Ok(0);
    }
    let surplus = (present - allowed).min(AT_ONCE);
    let last = "SELECT seq FROM record WHERE class = 0 ORDER BY seq LIMIT 1 OFFSET ?1";
    let last = connection.prepare_cached(last)?.query_row([surplus - 1], |row| row.get(0)).optional()?;
    Ok(last.unwrap_or(0))
}

/// Bytes in use. Free pages do not count, because SQLite reuses them before the file grows.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok(u64::try_from(pages * number("page_size")?).unwrap_or(0))
}

/// Removes the records up to `last`, and the gaps among them.
fn cut(transaction: &Transaction<'_>, last: i64, now: Moment) -> rusqlite::Result<()> {
    let end = end_of_cut(transaction, last)?;
    let (mut records, mut refusals, mut until) = (0, 0, 0);
    let removed: Vec<(i64, i64, i64)> = transaction
        .prepare_cached("SELECT class, count(*), max(at) FROM record WHERE seq <= ?1 GROUP BY class")?
        .query_map([end.seq], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (class, number, latest) in removed {
        let number = u64::try_from(number).unwrap_or(0);
        count_removed(transaction, class, number, latest)?;
        records += number;
        refusals += if class == RecordClass::Refusal as i64 { number } else { 0 };
        until = until.max(latest);
    }
    transaction.execute("DELETE FROM record WHERE seq <= ?1", [end.seq])?;
    transaction.execute("DELETE FROM gap WHERE last <= ?1", [end.seq])?;
    transaction.execute(
        "INSERT OR REPLACE INTO pruned (one, seq, hash) VALUES (1, ?1, ?2)",
        params![end.seq, end.hash.as_bytes()],
    )?;
    let event = Event::Pruned {
        through: end.seq,
        hash: end.hash.to_string(),
        records,
        refusals,
        until: Moment::from_unix_millis(until).to_string(),
    };
    add(transaction, head(transaction)?, &[RecordDraft::of_event(event, now)], SyncMode::Calm).map(|_| ())
}

/// The end of the removed beginning: this record, or the end of the gap that it is in.
fn end_of_cut(connection: &Connection, last: i64) -> rusqlite::Result<ChainHead> {
    let there = "SELECT seq, hash FROM record WHERE seq = ?1 UNION ALL \
        SELECT last, hash FROM gap WHERE first <= ?1 AND last >= ?1 LIMIT 1";
    let (seq, hash): (i64, Vec<u8>) =
        connection.query_row(there, [last], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(ChainHead { seq, hash: RecordHash::from_bytes(&hash).unwrap_or_else(RecordHash::genesis) })
}

impl RecordDraft {
    /// A record about the ledger itself.
    pub(crate) fn of_event(event: Event, now: Moment) -> RecordDraft {
        let class = match event {
            Event::Refused { .. } => RecordClass::Refusal,
            _ => RecordClass::Event,
        };
        let line = RecordLine::event(event, now);
        RecordDraft {
            at: now.unix_millis(),
            reference: Some(line.reference.clone().into_owned()),
            // The line is plain data, so serialization cannot fail.
            body: serde_json::to_string(&line).unwrap_or_default(),
            class,
        }
    }
}
