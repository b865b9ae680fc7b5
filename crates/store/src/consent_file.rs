//! The file of approvals and pins: SQLite with a write-ahead log, opened on first use.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::pins::rows as pin_rows;
use crate::shared_image::{SharedCopy, SharedImage};

/// Maximum time that another process may lock the file.
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

/// The schema version.
const LAYOUT: i64 = 2;

/// The database of approvals and pins: a file of this node, or an image that nodes share.
#[derive(Debug)]
pub struct ConsentFile {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
    shared: Option<SharedCopy>,
}

impl ConsentFile {
    pub const FILE: &'static str = "consent.sqlite";

    /// The file in a folder. It is not opened or created yet.
    pub fn in_folder(folder: &Path) -> Arc<ConsentFile> {
        let path = folder.join(ConsentFile::FILE);
        Arc::new(ConsentFile { path, connection: Mutex::default(), shared: None })
    }

    /// The database that this node shares with others.
    pub fn shared(image: Arc<dyn SharedImage>) -> Arc<ConsentFile> {
        let shared = Some(SharedCopy::new(image));
        Arc::new(ConsentFile { path: PathBuf::new(), connection: Mutex::default(), shared })
    }

    /// A store in memory, for the lifetime of the process.
    pub(crate) fn in_memory() -> Arc<ConsentFile> {
        let open = Connection::open_in_memory().and_then(|mut connection| {
            migrate(&mut connection)?;
            Ok(connection)
        });
        Arc::new(ConsentFile { path: PathBuf::new(), connection: Mutex::new(open.ok()), shared: None })
    }

    /// Closes the file, so that it is one file without a log beside it. The next use opens it again.
    pub fn close(&self) {
        drop(self.connection.lock().take());
    }

    pub fn exists(&self) -> bool {
        self.shared.is_some() || self.path.exists()
    }

    /// What a change would return on the last known state of a shared database that cannot be reached now.
    pub(crate) fn preview<T>(&self, work: impl Fn(&Transaction<'_>) -> rusqlite::Result<T>) -> Option<T> {
        self.shared.as_ref()?.preview(work)
    }

    /// Runs one write transaction.
    pub(crate) fn change<T>(
        &self,
        work: impl Fn(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Fault> {
        if let Some(shared) = &self.shared {
            return shared.change(work);
        }
        let mut open = self.connection.lock();
        let mut connection = match open.take() {
            Some(connection) => connection,
            None => self.open()?,
        };
        let done = in_transaction(&mut connection, work);
        // After an error the file is reopened, because it may have been moved or restored.
        if done.is_ok() {
            *open = Some(connection);
        }
        done.or_fault(&reason::POLICY_UNDECIDED)
            .map_err(|fault| fault.note("file", self.path.display().to_string()))
    }

    /// Reads outside of a transaction, so that it does not wait for writers in other processes.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Fault> {
        if let Some(shared) = &self.shared {
            return shared.read(work);
        }
        let mut open = self.connection.lock();
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
        let made = crate::sqlite::make(&self.path).or_fault(&reason::POLICY_UNDECIDED);
        let opened = made.and_then(|()| connect(&self.path));
        opened.map_err(|fault| fault.note("file", self.path.display().to_string()))
    }
}

pub(crate) fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    // Immediate: takes the write lock before the first read.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    // FULL: a commit is on disk when it returns, so that a used approval stays used after a power failure.
    let pragmas = "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;";
    let opened = crate::sqlite::open(path, PATIENCE, pragmas);
    let mut connection = opened.or_fault(&reason::POLICY_UNDECIDED)?;
    match migrate(&mut connection).or_fault(&reason::POLICY_UNDECIDED)? {
        LAYOUT => Ok(connection),
        newer => Err(Fault::new(&reason::POLICY_UNDECIDED)
            .note("layout", format!("the file has layout {newer}; this program knows {LAYOUT}"))),
    }
}

/// Creates missing tables and returns the schema version.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<i64> {
    in_transaction(connection, |transaction| {
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
