//! The rows, one for each resource.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use serde_json::{Map, Value};

use crate::address::{Address, Digest, Extension, Kind};
use crate::index::{moment, now};
use crate::kept::Kept;
use crate::media::media_type;

/// The sums are kept by the database itself, so that no way of changing a row can forget them.
pub(crate) const SCHEMA: &str = "
CREATE TABLE resource (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    extension TEXT NOT NULL,
    size INTEGER NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    UNIQUE (kind, sha256, extension)
) STRICT;
CREATE INDEX resource_expires ON resource (expires);
CREATE TABLE total (bytes INTEGER NOT NULL, items INTEGER NOT NULL) STRICT;
INSERT INTO total VALUES (0, 0);
CREATE TRIGGER resource_added AFTER INSERT ON resource BEGIN
    UPDATE total SET bytes = bytes + NEW.size, items = items + 1;
END;
CREATE TRIGGER resource_removed AFTER DELETE ON resource BEGIN
    UPDATE total SET bytes = bytes - OLD.size, items = items - 1;
END;
";

const COLUMNS: &str = "number, kind, sha256, extension, size, created, expires, metadata";

/// What all resources together come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) bytes: u64,
    pub(crate) items: u64,
}

pub(crate) fn total(connection: &Connection) -> rusqlite::Result<Total> {
    let row = |row: &Row<'_>| Ok(Total { bytes: count(row.get(0)?), items: count(row.get(1)?) });
    connection.prepare_cached("SELECT bytes, items FROM total")?.query_row([], row)
}

/// One resource, unless it has expired.
pub(crate) fn find(connection: &Connection, address: &Address) -> rusqlite::Result<Option<Kept>> {
    Ok(find_any(connection, address)?.filter(|(_, expires)| *expires > now()).map(|(kept, _)| kept))
}

/// One resource and when it expires, even if it has.
pub(crate) fn find_any(connection: &Connection, address: &Address) -> rusqlite::Result<Option<(Kept, i64)>> {
    let query = format!("SELECT {COLUMNS} FROM resource WHERE kind = ?1 AND sha256 = ?2 AND extension = ?3");
    let (kind, digest, extension) = parts(address);
    connection
        .prepare_cached(&query)?
        .query_row(params![kind, digest, extension], |row| Ok((kept(row)?, row.get("expires")?)))
        .optional()
}

/// Resources with their numbers, the latest first.
pub(crate) fn list(
    connection: &Connection,
    kind: Option<&Kind>,
    below: i64,
    most: usize,
) -> rusqlite::Result<Vec<(i64, Kept)>> {
    let query = format!(
        "SELECT {COLUMNS} FROM resource
         WHERE number < :below AND expires > :now AND (:kind IS NULL OR kind = :kind)
         ORDER BY number DESC LIMIT :most"
    );
    let most = signed(most as u64);
    let wanted =
        named_params! {":below": below, ":now": now(), ":kind": kind.map(Kind::as_str), ":most": most};
    connection
        .prepare_cached(&query)?
        .query_map(wanted, |row| Ok((row.get("number")?, kept(row)?)))?
        .collect()
}

/// The addresses of what has expired, the oldest first.
pub(crate) fn expired(connection: &Connection, most: usize) -> rusqlite::Result<Vec<(Address, u64)>> {
    let query = format!("SELECT {COLUMNS} FROM resource WHERE expires <= ?1 ORDER BY expires LIMIT ?2");
    let most = signed(most as u64);
    connection
        .prepare_cached(&query)?
        .query_map(params![now(), most], |row| Ok((address(row)?, count(row.get("size")?))))?
        .collect()
}

/// Every address with its size, expired ones included.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<(Address, u64)>> {
    let query = format!("SELECT {COLUMNS} FROM resource");
    connection.prepare(&query)?.query_map([], |row| Ok((address(row)?, count(row.get("size")?))))?.collect()
}

pub(crate) fn insert(
    connection: &Connection,
    address: &Address,
    size: u64,
    expires: i64,
    metadata: &Map<String, Value>,
) -> rusqlite::Result<()> {
    let (kind, digest, extension) = parts(address);
    let metadata = Value::Object(metadata.clone()).to_string();
    connection
        .prepare_cached(
            "INSERT INTO resource (kind, sha256, extension, size, created, expires, metadata)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![kind, digest, extension, signed(size), now(), expires, metadata])
        .map(|_| ())
}

pub(crate) fn update(
    connection: &Connection,
    address: &Address,
    expires: i64,
    metadata: &Map<String, Value>,
) -> rusqlite::Result<()> {
    let (kind, digest, extension) = parts(address);
    let metadata = Value::Object(metadata.clone()).to_string();
    connection
        .prepare_cached(
            "UPDATE resource SET expires = ?4, metadata = ?5
             WHERE kind = ?1 AND sha256 = ?2 AND extension = ?3",
        )?
        .execute(params![kind, digest, extension, expires, metadata])
        .map(|_| ())
}

pub(crate) fn remove(connection: &Connection, address: &Address) -> rusqlite::Result<()> {
    let (kind, digest, extension) = parts(address);
    connection
        .prepare_cached("DELETE FROM resource WHERE kind = ?1 AND sha256 = ?2 AND extension = ?3")?
        .execute(params![kind, digest, extension])
        .map(|_| ())
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn parts(address: &Address) -> (&str, &str, &str) {
    (address.kind.as_str(), address.digest.as_str(), address.extension.as_str())
}

/// The address of a row. What was edited into something else is as unreadable as a torn page.
fn address(row: &Row<'_>) -> rusqlite::Result<Address> {
    let text = |name: &str| row.get::<_, String>(name);
    let wrong = |name: &'static str| rusqlite::Error::InvalidColumnType(0, name.to_owned(), Type::Text);
    let extension = match text("extension")?.as_str() {
        "" => Extension::none(),
        ending => Extension::new(ending).map_err(|_| wrong("extension"))?,
    };
    Ok(Address {
        kind: Kind::new(&text("kind")?).map_err(|_| wrong("kind"))?,
        digest: Digest::parse(&text("sha256")?).ok_or_else(|| wrong("sha256"))?,
        extension,
    })
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    let address = address(row)?;
    let metadata: String = row.get("metadata")?;
    Ok(Kept {
        uri: address.to_string(),
        sha256: address.digest.as_str().to_owned(),
        media_type: media_type(&address.extension),
        kind: address.kind,
        extension: address.extension,
        size: count(row.get("size")?),
        created: moment(row.get("created")?),
        expires: moment(row.get("expires")?),
        metadata: serde_json::from_str(&metadata).unwrap_or_default(),
    })
}
