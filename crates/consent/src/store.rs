//! The file: SQLite with a write-ahead log, opened when it is first needed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_fault::{Fault, OrFault, reason};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::pin_rows;

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS approval (
    id TEXT PRIMARY KEY,
    scope TEXT NOT NULL,
    binding BLOB NOT NULL,
    caller TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    state TEXT NOT NULL,
    asked INTEGER NOT NULL,
    expires INTEGER NOT NULL,
    stands INTEGER NOT NULL,
    decided INTEGER,
    decided_by TEXT,
    reason TEXT,
    used INTEGER
) STRICT;
CREATE INDEX IF NOT EXISTS approval_binding ON approval (binding);
";

/// The layout this program reads and writes.
const LAYOUT: i64 = 2;

/// The file of one folder.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Store {
    /// The name of the file.
    pub const FILE: &'static str = "consent.sqlite";

    /// The file of a folder; nothing is opened or made yet.
    pub fn in_folder(folder: &Path) -> Arc<Store> {
        Arc::new(Store { path: folder.join(Store::FILE), connection: Mutex::default() })
    }

    /// A place that is gone with the program.
    pub(crate) fn in_memory() -> Arc<Store> {
        let open = Connection::open_in_memory().and_then(|mut connection| {
            lay_out(&mut connection)?;
            Ok(connection)
        });
        Arc::new(Store { path: PathBuf::new(), connection: Mutex::new(open.ok()) })
    }

    /// Whether there is a file at all.
    pub fn exists(&self) -> bool {
        self.path.exists()
    }

    /// Does something within one transaction: all of it, or nothing.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Fault> {
        let mut open = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection = match open.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
        let done = within(&mut connection, work);
        // After trouble it is opened anew: the file may have been moved away or put back.
        if done.is_ok() {
            *open = Some(connection);
        }
        done.or_fault(&reason::POLICY_UNDECIDED)
            .map_err(|fault| fault.note("file", self.path.display().to_string()))
    }

    /// Looks at something, without waiting for whoever changes it.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Fault> {
        let mut open = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match open.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
        let done = work(&connection);
        if done.is_ok() {
            *open = Some(connection);
        }
        done.or_fault(&reason::POLICY_UNDECIDED)
            .map_err(|fault| fault.note("file", self.path.display().to_string()))
    }

    fn open(&self) -> Result<Connection, Fault> {
        let made = failwell_drawer::make(&self.path).or_fault(&reason::POLICY_UNDECIDED);
        let opened = made.and_then(|()| connect(&self.path));
        opened.map_err(|fault| fault.note("file", self.path.display().to_string()))
    }
}

fn within<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    // Immediate: what is looked at stays as it is until the change is made.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    // FULL: a commit is on disk when it returns, so that no power cut makes a used yes good again.
    let pragmas = "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;";
    let opened = failwell_drawer::open(path, PATIENCE, pragmas);
    let mut connection = opened.or_fault(&reason::POLICY_UNDECIDED)?;
    match lay_out(&mut connection).or_fault(&reason::POLICY_UNDECIDED)? {
        LAYOUT => Ok(connection),
        newer => Err(Fault::new(&reason::POLICY_UNDECIDED)
            .note("layout", format!("the file has layout {newer}; this program knows {LAYOUT}"))),
    }
}

/// Makes what is not there yet; says which layout it has then.
fn lay_out(connection: &mut Connection) -> rusqlite::Result<i64> {
    within(connection, |transaction| {
        let layout = transaction.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
        if layout >= LAYOUT {
            return Ok(layout);
        }
        transaction.execute_batch(SCHEMA)?;
        transaction.execute_batch(pin_rows::SCHEMA)?;
        transaction.pragma_update(None, "user_version", LAYOUT)?;
        Ok(LAYOUT)
    })
}

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
