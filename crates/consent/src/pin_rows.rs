//! The rows of pins.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::pins::{Listing, NewTools};

/// Pins of one server at the most. What comes on top is never known, and so always held.
const MOST_OF_SERVER: u32 = 1_000;
/// The largest definition whose words are kept; of larger ones the hash alone is.
const LARGEST: usize = 64 * 1024;

/// The tables of pins. A pin without a hash is of something that was never approved.
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

/// Whose list is looked at.
pub(crate) struct Place<'a> {
    pub(crate) scope: &'a str,
    pub(crate) listing: &'a Listing,
}

/// One item as it is now.
pub(crate) struct Seen {
    pub(crate) name: String,
    pub(crate) hash: [u8; 32],
    pub(crate) definition: String,
}

/// A change that was not seen before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What the server calls it.
    pub name: String,
    /// As it was known; nothing for what is new, or too large to be kept.
    pub before: Option<String>,
    /// As it is now.
    pub after: Option<String>,
    /// Whether the server has never had it before.
    pub is_new: bool,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) differing: HashSet<usize>,
    pub(crate) news: Vec<Held>,
}

/// One pin with all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The configuration of its gateway.
    pub scope: String,
    /// Whose.
    pub server: String,
    /// `tools` or `prompts`.
    pub kind: String,
    /// What its server calls it.
    pub name: String,
    /// Which face of the server, where it has several.
    pub face: String,
    /// The hash of what is known; nothing when it never was approved.
    pub hash: Option<Vec<u8>>,
    /// What is known, unless it is too large to be kept.
    pub definition: Option<String>,
    /// Since when, in milliseconds since 1970.
    pub pinned_ms: i64,
    /// How it came to be known.
    pub pinned_by: String,
    /// The hash of what is held.
    pub held_hash: Option<Vec<u8>>,
    /// What is held.
    pub held_definition: Option<String>,
    /// Since when.
    pub held_ms: Option<i64>,
}

/// What is known of one item: by face the hash, and what is held.
struct Known {
    face: String,
    hash: Option<Vec<u8>>,
    definition: Option<String>,
    held_hash: Option<Vec<u8>>,
}

pub(crate) fn look(
    transaction: &Transaction<'_>,
    place: &Place<'_>,
    seen: &[Seen],
    new_tools: NewTools,
    now: i64,
) -> rusqlite::Result<Found> {
    let (scope, Listing { server, kind, .. }) = (place.scope, place.listing);
    let is_first = transaction.execute(
        "INSERT OR IGNORE INTO seen (scope, server, kind) VALUES (?1, ?2, ?3)",
        params![scope, server, kind],
    )? == 1;
    let count = "SELECT count(*) FROM pin WHERE scope = ?1 AND server = ?2";
    let mut room =
        MOST_OF_SERVER
            .saturating_sub(transaction.query_row(count, params![scope, server], |row| row.get(0))?);
    let mut found = Found::default();
    for (index, item) in seen.iter().enumerate() {
        let known = known(transaction, place, &item.name)?;
        let own = known.iter().find(|known| known.face == place.listing.face);
        let is_known = known.iter().any(|known| known.hash.as_deref() == Some(&item.hash[..]));
        let is_new = known.is_empty();
        if is_known {
            if own.is_some_and(|own| own.held_hash.is_some()) {
                take_back(transaction, place, &item.name)?;
            }
            continue;
        }
        if is_new && room > 0 && (is_first || new_tools == NewTools::Allow) {
            room -= 1;
            let how = if is_first { "first sight" } else { "first sight, later" };
            insert(transaction, place, item, how, now)?;
            continue;
        }
        found.differing.insert(index);
        if own.is_none() && room == 0 {
            continue;
        }
        if own.is_none_or(|own| own.held_hash.as_deref() != Some(&item.hash[..])) {
            room = room.saturating_sub(u32::from(own.is_none()));
            hold(transaction, place, item, now)?;
            let before = own.or(known.first()).and_then(|known| known.definition.clone());
            found.news.push(Held { name: item.name.clone(), before, after: words(item), is_new });
        }
    }
    Ok(found)
}

fn known(transaction: &Transaction<'_>, place: &Place<'_>, name: &str) -> rusqlite::Result<Vec<Known>> {
    let (scope, Listing { server, kind, .. }) = (place.scope, place.listing);
    let query = "SELECT face, hash, definition, held_hash FROM pin \
                 WHERE scope = ?1 AND server = ?2 AND kind = ?3 AND name = ?4";
    let mut select = transaction.prepare_cached(query)?;
    let rows = select.query_map(params![scope, server, kind, name], |row| {
        Ok(Known { face: row.get(0)?, hash: row.get(1)?, definition: row.get(2)?, held_hash: row.get(3)? })
    })?;
    rows.collect()
}

fn words(item: &Seen) -> Option<String> {
    (item.definition.len() <= LARGEST).then(|| item.definition.clone())
}

fn insert(
    transaction: &Transaction<'_>,
    place: &Place<'_>,
    item: &Seen,
    how: &str,
    now: i64,
) -> rusqlite::Result<()> {
    let Listing { server, kind, face, .. } = place.listing;
    let insert = "INSERT INTO pin (scope, server, kind, name, face, hash, definition, pinned, pinned_by) \
                  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let mut insert = transaction.prepare_cached(insert)?;
    insert
        .execute(params![place.scope, server, kind, item.name, face, item.hash, words(item), now, how])
        .map(|_| ())
}

fn hold(transaction: &Transaction<'_>, place: &Place<'_>, item: &Seen, now: i64) -> rusqlite::Result<()> {
    let Listing { server, kind, face, .. } = place.listing;
    let hold = "INSERT INTO pin (scope, server, kind, name, face, pinned, pinned_by, held_hash, held_definition, held) \
                VALUES (?1, ?2, ?3, ?4, ?5, ?8, '', ?6, ?7, ?8) \
                ON CONFLICT (scope, server, kind, name, face) DO UPDATE SET held_hash = ?6, held_definition = ?7, held = ?8";
    let mut hold = transaction.prepare_cached(hold)?;
    hold.execute(params![place.scope, server, kind, item.name, face, item.hash, words(item), now]).map(|_| ())
}

/// It is again what it was: nothing is held, and what was never approved is forgotten.
fn take_back(transaction: &Transaction<'_>, place: &Place<'_>, name: &str) -> rusqlite::Result<()> {
    let Listing { server, kind, face, .. } = place.listing;
    let which = "scope = ?1 AND server = ?2 AND kind = ?3 AND name = ?4 AND face = ?5";
    let named = params![place.scope, server, kind, name, face];
    transaction.execute(&format!("DELETE FROM pin WHERE {which} AND hash IS NULL"), named)?;
    let clear = format!("UPDATE pin SET held_hash = NULL, held_definition = NULL, held = NULL WHERE {which}");
    transaction.execute(&clear, named).map(|_| ())
}

/// All pins, in order.
pub(crate) fn all(
    connection: &Connection,
    scope: Option<&str>,
    server: Option<&str>,
) -> rusqlite::Result<Vec<Pin>> {
    let query = "SELECT scope, server, kind, name, face, hash, definition, pinned, pinned_by, held_hash, held_definition, held \
                 FROM pin WHERE (?1 IS NULL OR scope = ?1) AND (?2 IS NULL OR server = ?2) \
                 ORDER BY scope, server, kind DESC, name, face";
    let mut select = connection.prepare(query)?;
    let rows = select.query_map(params![scope, server], pin)?;
    rows.collect()
}

fn pin(row: &Row<'_>) -> rusqlite::Result<Pin> {
    Ok(Pin {
        scope: row.get(0)?,
        server: row.get(1)?,
        kind: row.get(2)?,
        name: row.get(3)?,
        face: row.get(4)?,
        hash: row.get(5)?,
        definition: row.get(6)?,
        pinned_ms: row.get(7)?,
        pinned_by: row.get(8)?,
        held_hash: row.get(9)?,
        held_definition: row.get(10)?,
        held_ms: row.get(11)?,
    })
}

/// What is held is known from now on, if it is still what somebody looked at.
pub(crate) fn approve(
    transaction: &Transaction<'_>,
    pin: &Pin,
    by: &str,
    now: i64,
) -> rusqlite::Result<usize> {
    let approve = "UPDATE pin SET hash = held_hash, definition = held_definition, pinned = ?7, pinned_by = ?8, \
                   held_hash = NULL, held_definition = NULL, held = NULL \
                   WHERE scope = ?1 AND server = ?2 AND kind = ?3 AND name = ?4 AND face = ?5 AND held_hash = ?6";
    let Pin { scope, server, kind, name, face, held_hash, .. } = pin;
    transaction.execute(approve, params![scope, server, kind, name, face, held_hash, now, by])
}

pub(crate) fn forget(transaction: &Transaction<'_>, pin: &Pin) -> rusqlite::Result<()> {
    let forget = "DELETE FROM pin WHERE scope = ?1 AND server = ?2 AND kind = ?3 AND name = ?4";
    transaction.execute(forget, params![pin.scope, pin.server, pin.kind, pin.name]).map(|_| ())
}

/// Its next list is its first.
pub(crate) fn forget_server(
    transaction: &Transaction<'_>,
    scope: Option<&str>,
    server: &str,
) -> rusqlite::Result<()> {
    let forget = "DELETE FROM seen WHERE (?1 IS NULL OR scope = ?1) AND server = ?2";
    transaction.execute(forget, params![scope, server]).map(|_| ())
}

/// Whoever serves has to look again.
pub(crate) fn tell(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("UPDATE told SET generation = generation + 1", []).map(|_| ())
}

/// How often somebody was told.
pub(crate) fn generation(connection: &Connection) -> rusqlite::Result<i64> {
    let told = connection
        .prepare_cached("SELECT generation FROM told")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(told.unwrap_or(0))
}
