//! Retention: removes old records. The chain stays verifiable from the last removed record on.

use failwell_fault::{Fault, OrFault, reason};
use failwell_render::Moment;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{LedgerFile, RecordDraft, SyncMode, add, head, pruned};
use crate::ledger::chain::{ChainHead, RecordHash};
use crate::ledger::record_line::{Event, RecordLine};
use crate::ledger::settings::Retention;

/// Maximum number of records removed at once, so that the file is not locked for long.
const AT_ONCE: i64 = 10_000;

const DAY_MS: i64 = 86_400_000;

impl LedgerFile {
    /// Removes a batch of records that exceed the retention. Returns true if more may remain. The removal is
    /// itself a record, so that truncation by others is detected.
    pub(crate) fn prune(&mut self, keep: &Retention, now: Moment) -> Result<bool, Fault> {
        let done = self.begin().and_then(|transaction| {
            let before = pruned(&transaction)?.unwrap_or_else(ChainHead::genesis);
            let Some(through) = through(&transaction, keep, before, now)? else { return Ok(false) };
            let last = through.min(before.seq + AT_ONCE);
            cut(&transaction, before, last, now)?;
            transaction.commit()?;
            Ok(last < through)
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
    let allowed = i64::try_from(keep.records).unwrap_or(i64::MAX);
    // Tolerate a tenth more than allowed, so that records are removed in batches and not one by one.
    if allowed > 0 && end - before.seq > allowed.saturating_add(allowed / 10) {
        through = through.max(end - allowed);
    }
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

/// Bytes in use. Free pages do not count, because SQLite reuses them before the file grows.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok(u64::try_from(pages * number("page_size")?).unwrap_or(0))
}

fn cut(transaction: &Transaction<'_>, before: ChainHead, last: i64, now: Moment) -> rusqlite::Result<()> {
    let hash: Vec<u8> =
        transaction.query_row("SELECT hash FROM record WHERE seq = ?1", [last], |row| row.get(0))?;
    let hash = RecordHash::from_bytes(&hash).unwrap_or_else(RecordHash::genesis);
    transaction.execute("DELETE FROM record WHERE seq <= ?1", [last])?;
    transaction.execute(
        "INSERT OR REPLACE INTO pruned (one, seq, hash) VALUES (1, ?1, ?2)",
        params![last, hash.as_bytes()],
    )?;
    let records = u64::try_from(last - before.seq).unwrap_or(0);
    let event = Event::Pruned { through: last, hash: hash.to_string(), records };
    add(transaction, head(transaction)?, &[RecordDraft::of_event(event, now)], SyncMode::Calm).map(|_| ())
}

impl RecordDraft {
    /// A record about the ledger itself.
    pub(crate) fn of_event(event: Event, now: Moment) -> RecordDraft {
        let line = RecordLine::event(event, now);
        RecordDraft {
            at: now.unix_millis(),
            reference: Some(line.reference.clone().into_owned()),
            // The line is plain data, so serialization cannot fail.
            body: serde_json::to_string(&line).unwrap_or_default(),
        }
    }
}
