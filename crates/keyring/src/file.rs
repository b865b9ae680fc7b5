//! The file: SQLite with a write-ahead log, opened when it is first needed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::{Caller, KeyHash};
use failwell_server::{Added, KeyRing, MadeKey, Revoked, Work};
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::rows;

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Keys in a file.
#[derive(Debug, Clone)]
pub struct FileRing(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl FileRing {
    /// The name of the file.
    pub const FILE: &'static str = "keys.sqlite";

    /// The file of a folder; nothing is opened or made yet.
    pub fn in_folder(folder: &Path) -> FileRing {
        FileRing(Arc::new(Inner { path: folder.join(FileRing::FILE), connection: Mutex::default() }))
    }

    /// Beside the requests: another process may hold the file for a while.
    fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Work<T> {
        let inner = self.0.clone();
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || inner.change(work)).await;
            done.or_fault(&reason::POLICY_KEYS_AWAY)?
        })
    }
}

impl Inner {
    /// Does something within one transaction: all of it, or nothing.
    fn change<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, Fault> {
        let mut open = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match open.take() {
            Some(connection) => Ok(connection),
            None => connect(&self.path),
        };
        let done = opened.and_then(|mut connection| {
            let done = within(&mut connection, work).or_fault(&reason::POLICY_KEYS_AWAY);
            // After trouble it is opened anew: the file may have been moved away or put back.
            if done.is_ok() {
                *open = Some(connection);
            }
            done
        });
        done.map_err(|fault| fault.note("file", self.path.display().to_string()))
    }
}

fn within<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    failwell_drawer::make(path).or_fault(&reason::POLICY_KEYS_AWAY)?;
    // FULL: no power cut gives a key back that was taken.
    let pragmas = "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;";
    let opened = failwell_drawer::open(path, PATIENCE, pragmas);
    let connection = opened.or_fault(&reason::POLICY_KEYS_AWAY)?;
    connection.execute_batch(rows::SCHEMA).or_fault(&reason::POLICY_KEYS_AWAY)?;
    Ok(connection)
}

/// Now, in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

impl KeyRing for FileRing {
    fn holder(&self, hash: KeyHash) -> Work<Option<Caller>> {
        self.aside(move |transaction| {
            let found = rows::by_hash(transaction, &hash.to_string())?;
            Ok(found.filter(|key| key.counts(now())).map(|key| key.holder()))
        })
    }

    fn add(&self, key: &MadeKey, hash: KeyHash) -> Work<Added> {
        let key = key.clone();
        self.aside(move |transaction| {
            rows::hold(transaction)?;
            rows::forget(transaction, now())?;
            rows::add(transaction, &key, &hash.to_string())
        })
    }

    fn add_first(&self, key: &MadeKey, hash: KeyHash) -> Work<bool> {
        let key = key.clone();
        self.aside(move |transaction| {
            rows::hold(transaction)?;
            match rows::had_any(transaction)? {
                true => Ok(false),
                false => Ok(rows::add(transaction, &key, &hash.to_string())? == Added::Done),
            }
        })
    }

    fn all(&self) -> Work<Vec<MadeKey>> {
        self.aside(|transaction| {
            let mut all = rows::all(transaction)?;
            all.retain(|key| key.counts(now()));
            Ok(all)
        })
    }

    fn revoke(&self, id: &str) -> Work<Revoked> {
        let id = id.to_owned();
        self.aside(move |transaction| {
            rows::hold(transaction)?;
            rows::revoke(transaction, &id, now())
        })
    }
}
