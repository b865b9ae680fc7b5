//! The ledger's file: SQLite with a write-ahead log, one transaction for many records.

mod prune;

use std::path::Path;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::chain::{Hash, Head};
use crate::settings::{LedgerSettings, Promise};

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Numbers are given in order and never twice. `ref` is there for records somebody may ask about, so that the
/// many that went well cost no index. `head` is the end of the chain and `pruned` its beginning.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS record (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    ref TEXT,
    hash BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS record_ref ON record (ref) WHERE ref IS NOT NULL;
CREATE TABLE IF NOT EXISTS head (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS pruned (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS node (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL) STRICT;
INSERT OR IGNORE INTO node (one, id) VALUES (1, lower(hex(randomblob(8))));
";

/// The layout this program reads and writes. Layout 1 had no `node`, which tells this chain from those of other nodes.
const LAYOUT: i64 = 2;

/// The open file.
pub(crate) struct Store {
    connection: Connection,
}

/// One record with its words found.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) at: i64,
    pub(crate) reference: Option<String>,
    pub(crate) body: String,
}

impl Store {
    /// Opens the file, made when it is not there: for its owner alone.
    pub(crate) fn open(folder: &Path, promise: Promise) -> Result<Store, Fault> {
        let path = folder.join(LedgerSettings::FILE);
        failwell_drawer::make(&path).or_fault(&reason::AUDIT_FAILED)?;
        // FULL: a commit is on disk when it returns. NORMAL: it is after the next checkpoint; a crash of this
        // program loses nothing either way.
        let synchronous = if promise == Promise::Critical { "FULL" } else { "NORMAL" };
        // Records are added at the end: what was written is seldom read again.
        let pragmas = format!(
            "PRAGMA synchronous = {synchronous}; PRAGMA wal_autocheckpoint = 4000; \
             PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -512;"
        );
        let connection = failwell_drawer::open(&path, PATIENCE, &pragmas).or_fault(&reason::AUDIT_FAILED)?;
        let mut store = Store { connection };
        store.lay_out()?;
        Ok(store)
    }

    fn lay_out(&mut self) -> Result<(), Fault> {
        let layout =
            |of: &Connection| of.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
        match layout(&self.connection).or_fault(&reason::AUDIT_FAILED)? {
            LAYOUT => return Ok(()),
            0 | 1 => {}
            newer => {
                return Err(Fault::new(&reason::AUDIT_FAILED)
                    .note("layout", format!("the ledger has layout {newer}; this program knows {LAYOUT}")));
            }
        }
        let made = self.begin().and_then(|transaction| {
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "user_version", LAYOUT)?;
            transaction.commit()
        });
        made.or_fault(&reason::AUDIT_FAILED)
    }

    fn begin(&mut self) -> rusqlite::Result<Transaction<'_>> {
        self.connection.transaction_with_behavior(TransactionBehavior::Immediate)
    }

    /// Adds records to the chain, all or none. Where it ended before is read anew each time: another process
    /// may have added to it.
    pub(crate) fn append(&mut self, drafts: &[Draft], pace: Pace) -> Result<Vec<Head>, Fault> {
        let added = self.begin().and_then(|transaction| {
            let before = head(&transaction)?;
            let added = add(&transaction, before, drafts, pace)?;
            transaction.commit()?;
            Ok(added)
        });
        added.or_fault(&reason::AUDIT_FAILED)
    }
}

/// How records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Others go first.
    Calm,
    /// More comes than is written.
    Hurried,
}

/// Records between two times that others are let first.
const AT_A_TIME: usize = 16;

/// Whoever waits for an answer goes before those who write down the last ones: many records at once would hold up a
/// processor for milliseconds.
pub(crate) fn let_others_first(place: usize, pace: Pace) {
    if pace == Pace::Calm && place % AT_A_TIME == AT_A_TIME - 1 {
        std::thread::yield_now();
    }
}

/// Each record's number and hash.
fn add(
    transaction: &Transaction<'_>,
    before: Head,
    drafts: &[Draft],
    pace: Pace,
) -> rusqlite::Result<Vec<Head>> {
    let mut insert = transaction
        .prepare_cached("INSERT INTO record (seq, at, ref, hash, body) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    let mut head = before;
    let mut added = Vec::with_capacity(drafts.len());
    for (place, draft) in drafts.iter().enumerate() {
        let seq = head.seq + 1;
        head = Head { seq, hash: head.hash.next(seq, draft.body.as_bytes()) };
        insert.execute(params![seq, draft.at, draft.reference, head.hash.as_bytes(), draft.body])?;
        added.push(head);
        let_others_first(place, pace);
    }
    set_head(transaction, head)?;
    Ok(added)
}

fn set_head(transaction: &Transaction<'_>, head: Head) -> rusqlite::Result<()> {
    let mut set =
        transaction.prepare_cached("INSERT OR REPLACE INTO head (one, seq, hash) VALUES (1, ?1, ?2)")?;
    set.execute(params![head.seq, head.hash.as_bytes()]).map(|_| ())
}

/// The end of the chain.
pub(crate) fn head(connection: &Connection) -> rusqlite::Result<Head> {
    marked(connection, "SELECT seq, hash FROM head").map(|head| head.unwrap_or_else(Head::genesis))
}

/// Who keeps the chain.
pub(crate) fn node(connection: &Connection) -> rusqlite::Result<String> {
    connection.prepare_cached("SELECT id FROM node")?.query_row([], |row| row.get(0))
}

/// The last record that was removed for its age, if one was.
pub(crate) fn pruned(connection: &Connection) -> rusqlite::Result<Option<Head>> {
    marked(connection, "SELECT seq, hash FROM pruned")
}

fn marked(connection: &Connection, query: &str) -> rusqlite::Result<Option<Head>> {
    let mut select = connection.prepare_cached(query)?;
    let mut rows = select.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let hash: Vec<u8> = row.get(1)?;
    Ok(Some(Head { seq: row.get(0)?, hash: Hash::from_bytes(&hash).unwrap_or_else(Hash::genesis) }))
}
