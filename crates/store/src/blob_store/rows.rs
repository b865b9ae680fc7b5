//! SQL for resources.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use serde_json::{Map, Value};

use crate::blob_store::index::{moment, now};
use crate::blob_store::media_type::media_type;
use crate::blob_store::stored_file::{FileAccess, StoredFile};
use crate::blob_store::uri::{BlobUri, Extension, ResourceType, Sha256Hex};

/// Triggers maintain the totals, so that no statement can miss them. Equal bytes of several owners are one file with
/// a row for each owner. The owner is empty for resources of layout 1, which had none.
pub(crate) const SCHEMA: &str = "
CREATE TABLE resource (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    extension TEXT NOT NULL,
    size INTEGER NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    UNIQUE (kind, sha256, extension, owner)
) STRICT;
CREATE INDEX resource_expires ON resource (expires);
CREATE INDEX resource_owner ON resource (owner, size);
CREATE TABLE total (bytes INTEGER NOT NULL, items INTEGER NOT NULL) STRICT;
INSERT INTO total VALUES (0, 0);
CREATE TRIGGER resource_added AFTER INSERT ON resource BEGIN
    UPDATE total SET bytes = bytes + NEW.size, items = items + 1;
END;
CREATE TRIGGER resource_removed AFTER DELETE ON resource BEGIN
    UPDATE total SET bytes = bytes - OLD.size, items = items - 1;
END;
";

/// Moves the table of layout 1, which had no owners, out of the way. Dropping it afterwards fires no trigger.
pub(crate) const BEFORE_OWNERS: &str = "
DROP TRIGGER resource_added;
DROP TRIGGER resource_removed;
DROP INDEX resource_expires;
DROP TABLE total;
ALTER TABLE resource RENAME TO before_owners;
";

pub(crate) const INTO_OWNERS: &str = "
INSERT INTO resource (number, owner, kind, sha256, extension, size, created, expires, metadata)
    SELECT number, '', kind, sha256, extension, size, created, expires, metadata FROM before_owners;
DROP TABLE before_owners;
";

const COLUMNS: &str = "number, owner, kind, sha256, extension, size, created, expires, metadata";

/// Selects the rows that a request may read, and those that it may change.
const READABLE: &str = "(:all OR owner = :owner OR owner = '')";
const CHANGEABLE: &str = "(:all OR owner = :owner)";

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

/// The totals of one owner.
pub(crate) fn total_of(connection: &Connection, owner: &str) -> rusqlite::Result<Totals> {
    let row = |row: &Row<'_>| Ok(Totals { bytes: count(row.get(0)?), items: count(row.get(1)?) });
    let totals = "SELECT coalesce(sum(size), 0), count(*) FROM resource WHERE owner = ?1";
    connection.prepare_cached(totals)?.query_row([owner], row)
}

/// Finds a resource that has not expired and that the request may read; its own first.
pub(crate) fn find(
    connection: &Connection,
    address: &BlobUri,
    access: &FileAccess,
) -> rusqlite::Result<Option<StoredFile>> {
    find_where(connection, address, access, READABLE)
}

/// Finds a resource that has not expired and that the request may change.
pub(crate) fn find_changeable(
    connection: &Connection,
    address: &BlobUri,
    access: &FileAccess,
) -> rusqlite::Result<Option<StoredFile>> {
    find_where(connection, address, access, CHANGEABLE)
}

fn find_where(
    connection: &Connection,
    address: &BlobUri,
    access: &FileAccess,
    allowed: &str,
) -> rusqlite::Result<Option<StoredFile>> {
    let query = format!(
        "SELECT {COLUMNS} FROM resource
         WHERE kind = :kind AND sha256 = :sha256 AND extension = :extension AND expires > :now AND {allowed}
         ORDER BY owner = :owner DESC, number LIMIT 1"
    );
    let (kind, digest, extension) = parts(address);
    let wanted = named_params! {
        ":kind": kind, ":sha256": digest, ":extension": extension, ":now": now(),
        ":all": access.reaches_all(), ":owner": access.owner(),
    };
    connection.prepare_cached(&query)?.query_row(wanted, stored_file).optional()
}

/// Finds the resource of an owner and its expiry, even if it has expired.
pub(crate) fn find_any(
    connection: &Connection,
    address: &BlobUri,
    owner: &str,
) -> rusqlite::Result<Option<(StoredFile, i64)>> {
    let query = format!(
        "SELECT {COLUMNS} FROM resource WHERE kind = ?1 AND sha256 = ?2 AND extension = ?3 AND owner = ?4"
    );
    let (kind, digest, extension) = parts(address);
    connection
        .prepare_cached(&query)?
        .query_row(params![kind, digest, extension, owner], |row| {
            Ok((stored_file(row)?, row.get("expires")?))
        })
        .optional()
}

/// Returns true if any owner has the resource.
pub(crate) fn is_used(connection: &Connection, address: &BlobUri) -> rusqlite::Result<bool> {
    let (kind, digest, extension) = parts(address);
    connection
        .prepare_cached("SELECT 1 FROM resource WHERE kind = ?1 AND sha256 = ?2 AND extension = ?3")?
        .exists(params![kind, digest, extension])
}

/// Resources with their row numbers, newest first.
pub(crate) fn list(
    connection: &Connection,
    kind: Option<&ResourceType>,
    access: &FileAccess,
    below: i64,
    most: usize,
) -> rusqlite::Result<Vec<(i64, StoredFile)>> {
    let query = format!(
        "SELECT {COLUMNS} FROM resource
         WHERE number < :below AND expires > :now AND (:kind IS NULL OR kind = :kind) AND {READABLE}
         ORDER BY number DESC LIMIT :most"
    );
    let most = signed(most as u64);
    let wanted = named_params! {
        ":below": below, ":now": now(), ":kind": kind.map(ResourceType::as_str), ":most": most,
        ":all": access.reaches_all(), ":owner": access.owner(),
    };
    connection
        .prepare_cached(&query)?
        .query_map(wanted, |row| Ok((row.get("number")?, stored_file(row)?)))?
        .collect()
}

/// Expired resources and their owners, oldest first.
pub(crate) fn expired(connection: &Connection, most: usize) -> rusqlite::Result<Vec<(BlobUri, String)>> {
    let query = format!("SELECT {COLUMNS} FROM resource WHERE expires <= ?1 ORDER BY expires LIMIT ?2");
    let most = signed(most as u64);
    connection
        .prepare_cached(&query)?
        .query_map(params![now(), most], |row| Ok((address(row)?, row.get("owner")?)))?
        .collect()
}

/// All resources with their owners and sizes, expired ones included.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<(BlobUri, String, u64)>> {
    let query = format!("SELECT {COLUMNS} FROM resource");
    let row = |row: &Row<'_>| Ok((address(row)?, row.get("owner")?, count(row.get("size")?)));
    connection.prepare(&query)?.query_map([], row)?.collect()
}

/// The changeable columns of a resource, and its key.
pub(crate) struct ResourceRow<'a> {
    pub(crate) address: &'a BlobUri,
    pub(crate) owner: &'a str,
    pub(crate) expires: i64,
    pub(crate) metadata: &'a Map<String, Value>,
}

impl ResourceRow<'_> {
    fn metadata(&self) -> String {
        Value::Object(self.metadata.clone()).to_string()
    }
}

pub(crate) fn insert(connection: &Connection, row: &ResourceRow<'_>, size: u64) -> rusqlite::Result<()> {
    let (kind, digest, extension) = parts(row.address);
    connection
        .prepare_cached(
            "INSERT INTO resource (kind, sha256, extension, owner, size, created, expires, metadata)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            kind,
            digest,
            extension,
            row.owner,
            signed(size),
            now(),
            row.expires,
            row.metadata()
        ])
        .map(|_| ())
}

pub(crate) fn update(connection: &Connection, row: &ResourceRow<'_>) -> rusqlite::Result<()> {
    let (kind, digest, extension) = parts(row.address);
    connection
        .prepare_cached(
            "UPDATE resource SET expires = ?5, metadata = ?6
             WHERE kind = ?1 AND sha256 = ?2 AND extension = ?3 AND owner = ?4",
        )?
        .execute(params![kind, digest, extension, row.owner, row.expires, row.metadata()])
        .map(|_| ())
}

pub(crate) fn remove(connection: &Connection, address: &BlobUri, owner: &str) -> rusqlite::Result<()> {
    let (kind, digest, extension) = parts(address);
    connection
        .prepare_cached(
            "DELETE FROM resource WHERE kind = ?1 AND sha256 = ?2 AND extension = ?3 AND owner = ?4",
        )?
        .execute(params![kind, digest, extension, owner])
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

fn stored_file(row: &Row<'_>) -> rusqlite::Result<StoredFile> {
    let address = address(row)?;
    let metadata: String = row.get("metadata")?;
    Ok(StoredFile {
        owner: row.get("owner")?,
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
