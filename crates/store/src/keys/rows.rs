//! SQL for API keys.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::keys::{AddKeyResult, ApiKey, RevokeKeyResult};

/// `had` records that a first key existed, so that revoking all keys does not create a new first key.
pub(crate) const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS key (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    roles TEXT NOT NULL,
    made_by TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS had (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT;
";

const COLUMNS: &str = "id, name, roles, made_by, created, expires";

fn read(row: &Row<'_>) -> rusqlite::Result<ApiKey> {
    let roles: String = row.get(2)?;
    Ok(ApiKey {
        id: row.get(0)?,
        name: row.get(1)?,
        roles: serde_json::from_str(&roles).unwrap_or_default(),
        made_by: row.get(3)?,
        created_ms: row.get(4)?,
        expires_ms: row.get(5)?,
    })
}

/// Takes the write lock, so that rows do not change between reading and writing.
pub(crate) fn lock(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("UPDATE had SET one = 1 WHERE one = 0", []).map(|_| ())
}

pub(crate) fn by_hash(transaction: &Transaction<'_>, hash: &str) -> rusqlite::Result<Option<ApiKey>> {
    let mut select = transaction.prepare_cached(&format!("SELECT {COLUMNS} FROM key WHERE hash = ?1"))?;
    select.query_row([hash], read).optional()
}

pub(crate) fn had_any(transaction: &Transaction<'_>) -> rusqlite::Result<bool> {
    transaction.query_row("SELECT EXISTS (SELECT 1 FROM had)", [], |row| row.get(0))
}

pub(crate) fn add(transaction: &Transaction<'_>, key: &ApiKey, hash: &str) -> rusqlite::Result<AddKeyResult> {
    let count: i64 = transaction.query_row("SELECT count(*) FROM key", [], |row| row.get(0))?;
    if usize::try_from(count).unwrap_or(usize::MAX) >= ApiKey::MOST {
        return Ok(AddKeyResult::Full);
    }
    let roles = serde_json::to_string(&key.roles).unwrap_or_default();
    let insert = "INSERT OR IGNORE INTO key (id, hash, name, roles, made_by, created, expires)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let values = params![key.id, hash, key.name, roles, key.made_by, key.created_ms, key.expires_ms];
    let added = transaction.prepare_cached(insert)?.execute(values)?;
    transaction.execute("INSERT OR IGNORE INTO had (one) VALUES (1)", [])?;
    Ok(if added == 1 { AddKeyResult::Done } else { AddKeyResult::Taken })
}

pub(crate) fn all(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<ApiKey>> {
    let mut select =
        transaction.prepare_cached(&format!("SELECT {COLUMNS} FROM key ORDER BY created, id"))?;
    select.query_map([], read)?.collect()
}

/// Deletes expired keys.
pub(crate) fn delete_expired(transaction: &Transaction<'_>, now: i64) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM key WHERE expires <= ?1", [now]).map(|_| ())
}

pub(crate) fn revoke(transaction: &Transaction<'_>, id: &str, now: i64) -> rusqlite::Result<RevokeKeyResult> {
    let all = all(transaction)?;
    let Some(key) = all.iter().find(|key| key.id == id && key.is_valid(now)) else {
        return Ok(RevokeKeyResult::Unknown);
    };
    let others = all.iter().any(|other| other.id != id && other.is_lasting_admin());
    if key.is_lasting_admin() && !others {
        return Ok(RevokeKeyResult::LastAdmin);
    }
    transaction.execute("DELETE FROM key WHERE id = ?1", [id])?;
    Ok(RevokeKeyResult::Done(Box::new(key.clone())))
}
