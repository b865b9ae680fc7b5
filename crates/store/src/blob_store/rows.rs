//! SQL for resources.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use serde_json::{Map, Value};

use crate::blob_store::index::{moment, now};
use crate::blob_store::media_type::media_type;
use crate::blob_store::stored_file::StoredFile;
use crate::blob_store::uri::{BlobUri, Extension, ResourceType, Sha256Hex};

/// Triggers maintain the totals, so that no statement can miss them.
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

/// The totals of all resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) bytes: u64,
    pub(crate) items: u64,
}

pub(crate) fn total(connection: &Connection) -> rusqlite::Result<Totals> {
    let row = |row: &Row<'_>| Ok(Totals { bytes: count(row.get(0)?), items: count(row.get(1)?) });
    connection.prepare_cached("SELECT bytes, items FROM total")?.query_row([], row)
}

/// Finds a resource that has not expired.
pub(crate) fn find(connection: &Connection, address: &BlobUri) -> rusqlite::Result<Option<StoredFile>> {
    Ok(find_any(connection, address)?.filter(|(_, expires)| *expires > now()).map(|(kept, _)| kept))
}

/// Finds a resource and its expiry, even if it has expired.
pub(crate) fn find_any(
    connection: &Connection,
    address: &BlobUri,
) -> rusqlite::Result<Option<(StoredFile, i64)>> {
    let query = format!("SELECT {COLUMNS} FROM resource WHERE kind = ?1 AND sha256 = ?2 AND extension = ?3");
    let (kind, digest, extension) = parts(address);
    connection
        .prepare_cached(&query)?
        .query_row(params![kind, digest, extension], |row| Ok((kept(row)?, row.get("expires")?)))
        .optional()
}

/// Resources with their row numbers, newest first.
pub(crate) fn list(
    connection: &Connection,
    kind: Option<&ResourceType>,
    below: i64,
    most: usize,
) -> rusqlite::Result<Vec<(i64, StoredFile)>> {
    let query = format!(
        "SELECT {COLUMNS} FROM resource
         WHERE number < :below AND expires > :now AND (:kind IS NULL OR kind = :kind)
         ORDER BY number DESC LIMIT :most"
    );
    let most = signed(most as u64);
    let wanted = named_params! {":below": below, ":now": now(), ":kind": kind.map(ResourceType::as_str), ":most": most};
    connection
        .prepare_cached(&query)?
        .query_map(wanted, |row| Ok((row.get("number")?, kept(row)?)))?
        .collect()
}

/// Expired resources, oldest first.
pub(crate) fn expired(connection: &Connection, most: usize) -> rusqlite::Result<Vec<(BlobUri, u64)>> {
    let query = format!("SELECT {COLUMNS} FROM resource WHERE expires <= ?1 ORDER BY expires LIMIT ?2");
    let most = signed(most as u64);
    connection
        .prepare_cached(&query)?
        .query_map(params![now(), most], |row| Ok((address(row)?, count(row.get("size")?))))?
        .collect()
}

/// All resources with their sizes, expired ones included.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<(BlobUri, u64)>> {
    let query = format!("SELECT {COLUMNS} FROM resource");
    connection.prepare(&query)?.query_map([], |row| Ok((address(row)?, count(row.get("size")?))))?.collect()
}

pub(crate) fn insert(
    connection: &Connection,
    address: &BlobUri,
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
    address: &BlobUri,
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

pub(crate) fn remove(connection: &Connection, address: &BlobUri) -> rusqlite::Result<()> {
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

fn parts(address: &BlobUri) -> (&str, &str, &str) {
    (address.kind.as_str(), address.digest.as_str(), address.extension.as_str())
}

/// The URI of a row. A manipulated row is an error, like a corrupt page.
fn address(row: &Row<'_>) -> rusqlite::Result<BlobUri> {
    let text = |name: &str| row.get::<_, String>(name);
    let wrong = |name: &'static str| rusqlite::Error::InvalidColumnType(0, name.to_owned(), Type::Text);
    let extension = match text("extension")?.as_str() {
        "" => Extension::none(),
        ending => Extension::new(ending).map_err(|_| wrong("extension"))?,
    };
    Ok(BlobUri {
        kind: ResourceType::new(&text("kind")?).map_err(|_| wrong("kind"))?,
        digest: Sha256Hex::parse(&text("sha256")?).ok_or_else(|| wrong("sha256"))?,
        extension,
    })
}

fn kept(row: &Row<'_>) -> rusqlite::Result<StoredFile> {
    let address = address(row)?;
    let metadata: String = row.get("metadata")?;
    Ok(StoredFile {
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
