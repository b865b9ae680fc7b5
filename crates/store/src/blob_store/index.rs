//! The index: SQLite with a write-ahead log. Writes and reads use separate connections, so that reads never
//! wait for writes.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_fault::{Fault, reason};
use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::blob_store::errors::{disk_fault, index_fault};
use crate::blob_store::rows::{BEFORE_OWNERS, INTO_OWNERS, SCHEMA};

/// Maximum time that another process may lock the file.
const PATIENCE: Duration = Duration::from_secs(10);

/// The schema version. Version 1 had no owners.
const LAYOUT: i64 = 2;

pub(crate) const FILE: &str = "index.sqlite";

pub(crate) struct BlobIndex {
    changing: Mutex<Connection>,
    looking: Mutex<Connection>,
}

impl BlobIndex {
    pub(crate) fn open(folder: &Path) -> Result<BlobIndex, Fault> {
        let path = folder.join(FILE);
        crate::sqlite::make(&path).map_err(disk_fault)?;
        let mut changing = connect(&path)?;
        match migrate(&mut changing)? {
            LAYOUT => {}
            newer => {
                let what = format!("the index has layout {newer}; this program knows {LAYOUT}");
                return Err(Fault::new(&reason::SHELF_TROUBLE).note("layout", what));
            }
        }
        Ok(BlobIndex { changing: Mutex::new(changing), looking: Mutex::new(connect(&path)?) })
    }

    /// Runs one transaction, which takes the write lock before its first read.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut connection = self.changing.lock();
        in_transaction(&mut connection, work)
    }

    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Fault> {
        let connection = self.looking.lock();
        work(&connection).map_err(index_fault)
    }

    /// A version number that changes when another process changes the index.
    pub(crate) fn version(&self) -> Result<i64, Fault> {
        // Uses the writing connection, because SQLite does not count a connection's own changes.
        let connection = self.changing.lock();
        connection.pragma_query_value(None, "data_version", |row| row.get(0)).map_err(index_fault)
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(index_fault)?;
    let done = work(&transaction)?;
    transaction.commit().map_err(index_fault)?;
    Ok(done)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    // FULL: a resource that was acknowledged survives a power failure.
    crate::sqlite::open(path, PATIENCE, "PRAGMA synchronous = FULL;").map_err(index_fault)
}

/// Creates missing tables and returns the schema version.
fn migrate(connection: &mut Connection) -> Result<i64, Fault> {
    in_transaction(connection, |transaction| {
        let layout: i64 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(index_fault)?;
        if layout >= LAYOUT {
            return Ok(layout);
        }
        let (before, after) = if layout == 1 { (BEFORE_OWNERS, INTO_OWNERS) } else { ("", "") };
        for step in [before, SCHEMA, after] {
            transaction.execute_batch(step).map_err(index_fault)?;
        }
        transaction.pragma_update(None, "user_version", LAYOUT).map_err(index_fault)?;
        Ok(LAYOUT)
    })
}

/// The current time in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    millis(SystemTime::now())
}

pub(crate) fn millis(moment: SystemTime) -> i64 {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn moment(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}
