//! The index: SQLite with a write-ahead log. One connection changes, another looks, so that nobody who looks waits for
//! whoever changes.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_fault::{Fault, reason};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::rows::SCHEMA;
use crate::trouble::{of_disk, of_index};

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(10);

/// The layout this program reads and writes.
const LAYOUT: i64 = 1;

/// The name of the file.
pub(crate) const FILE: &str = "index.sqlite";

/// What is known of all resources.
pub(crate) struct Index {
    changing: Mutex<Connection>,
    looking: Mutex<Connection>,
}

impl Index {
    pub(crate) fn open(folder: &Path) -> Result<Index, Fault> {
        let path = folder.join(FILE);
        failwell_drawer::make(&path).map_err(of_disk)?;
        let mut changing = connect(&path)?;
        match lay_out(&mut changing)? {
            LAYOUT => {}
            newer => {
                let what = format!("the index has layout {newer}; this program knows {LAYOUT}");
                return Err(Fault::new(&reason::SHELF_TROUBLE).note("layout", what));
            }
        }
        Ok(Index { changing: Mutex::new(changing), looking: Mutex::new(connect(&path)?) })
    }

    /// Changes something within one transaction that holds the folder from its first look on: all of it, or nothing.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut connection = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        within(&mut connection, work)
    }

    /// Looks at something.
    pub(crate) fn look<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Fault> {
        let connection = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(of_index)
    }

    /// A number that is another when somebody else, another process included, changed the index.
    pub(crate) fn version(&self) -> Result<i64, Fault> {
        // Of the connection that changes: what it changes itself does not count.
        let connection = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        connection.pragma_query_value(None, "data_version", |row| row.get(0)).map_err(of_index)
    }
}

fn within<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(of_index)?;
    let done = work(&transaction)?;
    transaction.commit().map_err(of_index)?;
    Ok(done)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    // FULL: what a caller was told is kept is still there after a power cut.
    failwell_drawer::open(path, PATIENCE, "PRAGMA synchronous = FULL;").map_err(of_index)
}

/// Makes what is not there yet; says which layout it has then.
fn lay_out(connection: &mut Connection) -> Result<i64, Fault> {
    within(connection, |transaction| {
        let layout: i64 =
            transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(of_index)?;
        if layout >= LAYOUT {
            return Ok(layout);
        }
        transaction.execute_batch(SCHEMA).map_err(of_index)?;
        transaction.pragma_update(None, "user_version", LAYOUT).map_err(of_index)?;
        Ok(LAYOUT)
    })
}

/// Now, in milliseconds since 1970.
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
