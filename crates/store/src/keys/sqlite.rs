//! API keys in SQLite with a write-ahead log. The file is opened on first use.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::KeyHash;
use failwell_rpc::Caller;
use parking_lot::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::StoreFuture as Work;
use crate::clock::now_ms as now;
use crate::keys::rows;
use crate::keys::{AddKeyResult, ApiKey, KeyStore, RevokeKeyResult};

/// Maximum time that another process may lock the file.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct SqliteKeys(Arc<KeyFile>);

#[derive(Debug)]
struct KeyFile {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl SqliteKeys {
    pub const FILE: &'static str = "keys.sqlite";

    /// The file in a folder. It is not opened or created yet.
    pub fn in_folder(folder: &Path) -> SqliteKeys {
        SqliteKeys(Arc::new(KeyFile { path: folder.join(SqliteKeys::FILE), connection: Mutex::default() }))
    }

    /// Runs on a blocking thread, because another process may lock the file.
    fn run_blocking<T: Send + 'static>(
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

impl KeyFile {
    /// Runs one transaction.
    fn change<T>(&self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, Fault> {
        let mut open = self.connection.lock();
        let opened = match open.take() {
            Some(connection) => Ok(connection),
            None => connect(&self.path),
        };
        let done = opened.and_then(|mut connection| {
            let done = in_transaction(&mut connection, work).or_fault(&reason::POLICY_KEYS_AWAY);
            // After an error the file is reopened, because it may have been moved or restored.
            if done.is_ok() {
                *open = Some(connection);
            }
            done
        });
        done.map_err(|fault| fault.note("file", self.path.display().to_string()))
    }
}

fn in_transaction<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

fn connect(path: &Path) -> Result<Connection, Fault> {
    crate::sqlite::make(path).or_fault(&reason::POLICY_KEYS_AWAY)?;
    // FULL: a revoked key stays revoked after a power failure.
    let pragmas = "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;";
    let opened = crate::sqlite::open(path, PATIENCE, pragmas);
    let connection = opened.or_fault(&reason::POLICY_KEYS_AWAY)?;
    connection.execute_batch(rows::SCHEMA).or_fault(&reason::POLICY_KEYS_AWAY)?;
    Ok(connection)
}

impl KeyStore for SqliteKeys {
    fn close(&self) {
        drop(self.0.connection.lock().take());
    }

    fn holder(&self, hash: KeyHash) -> Work<Option<Caller>> {
        self.run_blocking(move |transaction| {
            let found = rows::by_hash(transaction, &hash.to_string())?;
            Ok(found.filter(|key| key.is_valid(now())).map(|key| key.holder()))
        })
    }

    fn add(&self, key: &ApiKey, hash: KeyHash) -> Work<AddKeyResult> {
        let key = key.clone();
        self.run_blocking(move |transaction| {
            rows::lock(transaction)?;
            rows::delete_expired(transaction, now())?;
            rows::add(transaction, &key, &hash.to_string())
        })
    }

    fn add_first(&self, key: &ApiKey, hash: KeyHash) -> Work<bool> {
        let key = key.clone();
        self.run_blocking(move |transaction| {
            rows::lock(transaction)?;
            match rows::had_any(transaction)? {
                true => Ok(false),
                false => Ok(rows::add(transaction, &key, &hash.to_string())? == AddKeyResult::Done),
            }
        })
    }

    fn all(&self) -> Work<Vec<ApiKey>> {
        self.run_blocking(|transaction| {
            let mut all = rows::all(transaction)?;
            all.retain(|key| key.is_valid(now()));
            Ok(all)
        })
    }

    fn revoke(&self, id: &str) -> Work<RevokeKeyResult> {
        let id = id.to_owned();
        self.run_blocking(move |transaction| {
            rows::lock(transaction)?;
            rows::revoke(transaction, &id, now())
        })
    }
}
