//! SQL for pins.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::pins::{ListedItems, NewTools};

/// Maximum number of pins per server. Items beyond it are never pinned, so they are always quarantined.
const MOST_OF_SERVER: u32 = 1_000;
/// Maximum size of a definition that is stored as text. Of larger ones only the hash is stored.
const LARGEST: usize = 64 * 1024;

/// A pin without a hash belongs to an item that was never approved.
pub(crate) const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS pin (
    scope TEXT NOT NULL,
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    face TEXT NOT NULL,
    hash BLOB,
    definition TEXT,
    pinned INTEGER NOT NULL,
    pinned_by TEXT NOT NULL,
    held_hash BLOB,
    held_definition TEXT,
    held INTEGER,
    PRIMARY KEY (scope, server, kind, name, face)
) STRICT;
CREATE TABLE IF NOT EXISTS seen (
    scope TEXT NOT NULL,
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (scope, server, kind)
) STRICT;
CREATE TABLE IF NOT EXISTS told (one INTEGER PRIMARY KEY CHECK (one = 1), generation INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO told (one, generation) VALUES (1, 0);
";

/// The gateway and the list to check.
pub(crate) struct PinScope<'a> {
    pub(crate) scope: &'a str,
    pub(crate) listing: &'a ListedItems,
}

/// An item as the server lists it now.
pub(crate) struct ObservedItem {
    pub(crate) name: String,
    pub(crate) hash: [u8; 32],
    pub(crate) definition: String,
}

/// A change that was not reported before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedItem {
    /// The server's own name of the item.
    pub name: String,
    /// The approved definition; `None` if the item is new or the text is too large to store.
    pub before: Option<String>,
    /// The current definition; `None` if the text is too large to store.
    pub after: Option<String>,
    pub is_new: bool,
}

/// The result of comparing a list with its pins.
#[derive(Default)]
pub(crate) struct ListedDiff {
    pub(crate) differing: HashSet<usize>,
    pub(crate) changes: Vec<QuarantinedItem>,
}

/// A stored pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinRecord {
    /// The configuration of its gateway.
    pub scope: String,
    pub server: String,
    /// `tools`, `prompts` or `instructions`.
    pub kind: String,
    /// The server's own name of the item.
    pub name: String,
    /// The protocol era, if the server lists different definitions per era.
    pub era: String,
    /// The approved hash; `None` if the item was never approved.
    pub hash: Option<Vec<u8>>,
    /// The approved definition, unless it is too large to store.
    pub definition: Option<String>,
    /// The time of the approval, in milliseconds since 1970.
    pub pinned_ms: i64,
    /// The approver, or `first sight`.
    pub pinned_by: String,
    /// The hash of the quarantined definition.
    pub held_hash: Option<Vec<u8>>,
    /// The quarantined definition.
    pub held_definition: Option<String>,
    /// The start of the quarantine, in milliseconds since 1970.
    pub held_ms: Option<i64>,
}

/// A pin of one item, for one era.
struct KnownPin {
    era: String,
    hash: Option<Vec<u8>>,
    definition: Option<String>,
    held_hash: Option<Vec<u8>>,
}

pub(crate) fn check(
    transaction: &Transaction<'_>,
    place: &PinScope<'_>,
    seen: &[ObservedItem],
    new_tools: NewTools,
    now: i64,
) -> rusqlite::Result<ListedDiff> {
    let (scope, ListedItems { server, kind, .. }) = (place.scope, place.listing);
    let is_first = transaction.execute(
        "INSERT OR IGNORE INTO seen (scope, server, kind) VALUES (?1, ?2, ?3)",
        params![scope, server, kind],
    )? == 1;
    let count = "SELECT count(*) FROM pin WHERE scope = ?1 AND server = ?2";
    let mut spare =
        MOST_OF_SERVER
            .saturating_sub(transaction.query_row(count, params![scope, server], |row| row.get(0))?);
    let mut found = ListedDiff::default();
    for (index, item) in seen.iter().enumerate() {
        let known = known(transaction, place, &item.name)?;
        let own = known.iter().find(|known| known.era == place.listing.era);
        let is_known = known.iter().any(|known| known.hash.as_deref() == Some(&item.hash[..]));
        let is_new = known.is_empty();
        if is_known {
            if own.is_some_and(|own| own.held_hash.is_some()) {
                release(transaction, place, &item.name)?;
            }
            continue;
        }
        if is_new && spare > 0 && (is_first || new_tools == NewTools::Allow) {
            spare -= 1;
            let how = if is_first { "first sight" } else { "first sight, later" };
            insert(transaction, place, item, how, now)?;
            continue;
        }
        found.differing.insert(index);
        if own.is_none() && spare == 0 {
            continue;
        }
        if own.is_none_or(|own| own.held_hash.as_deref() != Some(&item.hash[..])) {
            spare = spare.saturating_sub(u32::from(own.is_none()));
            quarantine(transaction, place, item, now)?;
            let before = own.or(known.first()).and_then(|known| known.definition.clone());
            found.changes.push(QuarantinedItem {
                name: item.name.clone(),
                before,
                after: stored_text(item),
                is_new,
            });
        }
    }
    Ok(found)
}

fn known(transaction: &Transaction<'_>, place: &PinScope<'_>, name: &str) -> rusqlite::Result<Vec<KnownPin>> {
    let (scope, ListedItems { server, kind, .. }) = (place.scope, place.listing);
    let query = "SELECT face, hash, definition, held_hash FROM pin \
                 WHERE scope = ?1 AND server = ?2 AND kind = ?3 AND name = ?4";
    let mut select = transaction.prepare_cached(query)?;
    let rows = select.query_map(params![scope, server, kind, name], |row| {
        Ok(KnownPin { era: row.get(0)?, hash: row.get(1)?, definition: row.get(2)?, held_hash: row.get(3)? })
    })?;
    rows.collect()
}

fn stored_text(item: &ObservedItem) -> Option<String> {
    (item.definition.len() <= LARGEST).then(|| item.definition.clone())
}

fn insert(
    transaction: &Transaction<'_>,
    place: &PinScope<'_>,
    item: &ObservedItem,
    how: &str,
    now: i64,
) -> rusqlite::Result<()> {
    let ListedItems { server, kind, era, .. } = place.listing;
    let insert = "INSERT INTO pin (scope, server, kind, name, face, hash, definition, pinned, pinned_by) \
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let mut insert = transaction.prepare_cached(insert)?;
    insert
        .execute(params![place.scope, server, kind, item.name, era, item.hash, stored_text(item), now, how])
        .map(|_| ())
}

fn quarantine(
    transaction: &Transaction<'_>,
    place: &PinScope<'_>,
    item: &ObservedItem,
    now: i64,
) -> rusqlite::Result<()> {
    let ListedItems { server, kind, era, .. } = place.listing;
    let hold = "INSERT INTO pin (scope, server, kind, name, face, pinned, pinned_by, held_hash, held_definition, held) \
                VALUES (?1, ?2, ?3, ?4, ?5, ?8, '', ?6, ?7, ?8) \
                ON CONFLICT (scope, server, kind, name, face) DO UPDATE SET held_hash = ?6, held_definition = ?7, held = ?8";
    let mut hold = transaction.prepare_cached(hold)?;
    hold.execute(params![place.scope, server, kind, item.name, era, item.hash, stored_text(item), now])
        .map(|_| ())
}

/// Ends the quarantine of an item that has its approved definition again. A pin that was never approved is
/// deleted.
fn release(transaction: &Transaction<'_>, place: &PinScope<'_>, name: &str) -> rusqlite::Result<()> {
    let ListedItems { server, kind, era, .. } = place.listing;
    let which = "scope = ?1 AND server = ?2 AND kind = ?3 AND name = ?4 AND face = ?5";
    let named = params![place.scope, server, kind, name, era];
    transaction.execute(&format!("DELETE FROM pin WHERE {which} AND hash IS NULL"), named)?;
    let clear = format!("UPDATE pin SET held_hash = NULL, held_definition = NULL, held = NULL WHERE {which}");
    transaction.execute(&clear, named).map(|_| ())
}

/// All pins, sorted.
pub(crate) fn all(
    connection: &Connection,
    scope: Option<&str>,
    server: Option<&str>,
) -> rusqlite::Result<Vec<PinRecord>> {
    let query = "SELECT scope, server, kind, name, face, hash, definition, pinned, pinned_by, held_hash, held_definition, held \
                 FROM pin WHERE (?1 IS NULL OR scope = ?1) AND (?2 IS NULL OR server = ?2) \
                 ORDER BY scope, server, kind DESC, name, face";
    let mut select = connection.prepare(query)?;
    let rows = select.query_map(params![scope, server], pin)?;
    rows.collect()
}

fn pin(row: &Row<'_>) -> rusqlite::Result<PinRecord> {
    Ok(PinRecord {
        scope: row.get(0)?,
        server: row.get(1)?,
        kind: row.get(2)?,
        name: row.get(3)?,
        era: row.get(4)?,
        hash: row.get(5)?,
        definition: row.get(6)?,
        pinned_ms: row.get(7)?,
        pinned_by: row.get(8)?,
        held_hash: row.get(9)?,
        held_definition: row.get(10)?,
        held_ms: row.get(11)?,
    })
}

/// Approves the quarantined definition, if it is still the one that the operator saw.
pub(crate) fn approve(
    transaction: &Transaction<'_>,
    pin: &PinRecord,
    by: &str,
    now: i64,
) -> rusqlite::Result<usize> {
    let approve = "UPDATE pin SET hash = held_hash, definition = held_definition, pinned = ?7, pinned_by = ?8, \
                   held_hash = NULL, held_definition = NULL, held = NULL \
                   WHERE scope = ?1 AND server = ?2 AND kind = ?3 AND name = ?4 AND face = ?5 AND held_hash = ?6";
    let PinRecord { scope, server, kind, name, era, held_hash, .. } = pin;
    transaction.execute(approve, params![scope, server, kind, name, era, held_hash, now, by])
}

pub(crate) fn forget(transaction: &Transaction<'_>, pin: &PinRecord) -> rusqlite::Result<()> {
    let forget = "DELETE FROM pin WHERE scope = ?1 AND server = ?2 AND kind = ?3 AND name = ?4";
    transaction.execute(forget, params![pin.scope, pin.server, pin.kind, pin.name]).map(|_| ())
}

/// Marks a server as never seen.
pub(crate) fn forget_server(
    transaction: &Transaction<'_>,
    scope: Option<&str>,
    server: &str,
) -> rusqlite::Result<()> {
    let forget = "DELETE FROM seen WHERE (?1 IS NULL OR scope = ?1) AND server = ?2";
    transaction.execute(forget, params![scope, server]).map(|_| ())
}

/// Tells running gateways to check their lists again.
pub(crate) fn bump_generation(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("UPDATE told SET generation = generation + 1", []).map(|_| ())
}

/// Counts changes of pins by the operator.
pub(crate) fn generation(connection: &Connection) -> rusqlite::Result<i64> {
    let updated = connection
        .prepare_cached("SELECT generation FROM told")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(updated.unwrap_or(0))
}
