//! Old records go; the chain stays verifiable from where they ended.

use failwell_fault::{Fault, OrFault, reason};
use failwell_render::Moment;
use rusqlite::{Connection, OptionalExtension, Transaction, params};

use super::{Draft, Pace, Store, add, head, pruned};
use crate::chain::{Hash, Head};
use crate::line::{Event, Line};
use crate::settings::Retention;

/// The most records removed at once: nobody waits long for the file meanwhile.
const AT_ONCE: i64 = 10_000;

const DAY_MS: i64 = 86_400_000;

impl Store {
    /// Removes what is too old or too much, some of it at a time; says whether there may be more. That it was
    /// removed is itself a record, so that nobody else can cut the beginning off unseen.
    pub(crate) fn prune(&mut self, keep: &Retention, now: Moment) -> Result<bool, Fault> {
        let done = self.begin().and_then(|transaction| {
            let before = pruned(&transaction)?.unwrap_or_else(Head::genesis);
            let Some(through) = through(&transaction, keep, before, now)? else { return Ok(false) };
            let last = through.min(before.seq + AT_ONCE);
            cut(&transaction, before, last, now)?;
            transaction.commit()?;
            Ok(last < through)
        });
        done.or_fault(&reason::AUDIT_FAILED)
    }
}

/// The last record that has to go, if any has.
fn through(
    connection: &Connection,
    keep: &Retention,
    before: Head,
    now: Moment,
) -> rusqlite::Result<Option<i64>> {
    let end = head(connection)?.seq;
    let mut through = before.seq;
    let allowed = i64::try_from(keep.records).unwrap_or(i64::MAX);
    // A tenth more is let in before any goes, so that it goes in one sweep and not one by one.
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
    // The last record stays: it is what the next one is chained to.
    let through = through.min(end - 1);
    Ok((through > before.seq).then_some(through))
}

/// Bytes in use; pages that are free are filled before the file grows.
fn used(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = number("page_count")? - number("freelist_count")?;
    Ok(u64::try_from(pages * number("page_size")?).unwrap_or(0))
}

fn cut(transaction: &Transaction<'_>, before: Head, last: i64, now: Moment) -> rusqlite::Result<()> {
    let hash: Vec<u8> =
        transaction.query_row("SELECT hash FROM record WHERE seq = ?1", [last], |row| row.get(0))?;
    let hash = Hash::from_bytes(&hash).unwrap_or_else(Hash::genesis);
    transaction.execute("DELETE FROM record WHERE seq <= ?1", [last])?;
    transaction.execute(
        "INSERT OR REPLACE INTO pruned (one, seq, hash) VALUES (1, ?1, ?2)",
        params![last, hash.as_bytes()],
    )?;
    let records = u64::try_from(last - before.seq).unwrap_or(0);
    let event = Event::Pruned { through: last, hash: hash.to_string(), records };
    add(transaction, head(transaction)?, &[Draft::of_event(event, now)], Pace::Calm).map(|_| ())
}

impl Draft {
    /// What the ledger says of itself.
    pub(crate) fn of_event(event: Event, now: Moment) -> Draft {
        let line = Line::event(event, now);
        Draft {
            at: now.unix_millis(),
            reference: Some(line.reference.clone().into_owned()),
            // A line is plain data; it always has words.
            body: serde_json::to_string(&line).unwrap_or_default(),
        }
    }
}
