//! The ledger's file: SQLite with a write-ahead log. One transaction writes many records.

mod identity;
mod prune;
mod prune_refusals;

use std::path::{Path, PathBuf};
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use self::identity::FileIdentity;
use crate::ledger::chain::{ChainHead, RecordHash};
use crate::ledger::record_line::RemovedRange;
use crate::ledger::settings::{Durability, LedgerSettings};

/// Maximum time that another process may lock the file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sequence numbers are consecutive and never reused. `ref` is set for failures only, so that successful
/// calls need no index entry. `head` is the end of the chain; `pruned` is the last record of the removed
/// beginning. `gap` has the removed ranges after it, each with the hash of its last record, and `removed` what
/// retention removed in all.
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
ALTER TABLE record ADD COLUMN class INTEGER NOT NULL DEFAULT 0;
CREATE INDEX record_class ON record (class, seq) WHERE class > 0;
CREATE TABLE gap (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TABLE removed (class INTEGER PRIMARY KEY, records INTEGER NOT NULL, until INTEGER NOT NULL) STRICT;
INSERT INTO removed (class, records, until) SELECT 0, seq, 0 FROM pruned;
";

/// The schema version. Version 1 had no `node`, which distinguishes the chains of different nodes. Version 2 had
/// no classes of records.
const LAYOUT: i64 = 3;

pub(crate) struct LedgerFile {
    connection: Connection,
    path: PathBuf,
    identity: FileIdentity,
}

/// Records that retention treats alike. The numbers are in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordClass {
    /// Of a caller, or of the program's own work.
    Exchange = 0,
    /// A request that was refused before its caller was identified, or a count of such requests.
    Refusal = 1,
    /// An event of the ledger itself. It is removed together with the records around it.
    Event = 2,
}

/// A formatted record without its number and hash.
#[derive(Debug, Clone)]
pub(crate) struct RecordDraft {
    pub(crate) at: i64,
    pub(crate) reference: Option<String>,
    pub(crate) body: String,
    pub(crate) class: RecordClass,
}

impl LedgerFile {
    /// Opens the file, or creates it with access for its owner only.
    pub(crate) fn open(folder: &Path, durability: Durability) -> Result<LedgerFile, Fault> {
        let path = folder.join(LedgerSettings::FILE);
        failwell_store::sqlite::make(&path).or_fault(&reason::AUDIT_FAILED)?;
        // FULL: a commit is on disk when it returns. NORMAL: it is on disk after the next checkpoint. A crash
        // of this process loses nothing in either mode.
        let synchronous = if durability == Durability::Critical { "FULL" } else { "NORMAL" };
        // Records are appended and rarely read again, so a small cache is enough.
        let pragmas = format!(
            "PRAGMA synchronous = {synchronous}; PRAGMA wal_autocheckpoint = 4000; \
             PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -512;"
        );
        let connection =
            failwell_store::sqlite::open(&path, PATIENCE, &pragmas).or_fault(&reason::AUDIT_FAILED)?;
        let identity = FileIdentity::of(&path);
        let mut store = LedgerFile { connection, path, identity };
        store.migrate()?;
        Ok(store)
    }

    /// Moves everything from the write-ahead log into the file, and closes it. The log is removed unless another
    /// connection uses it.
    pub(crate) fn close(self) {
        // A reader of another program may be in the way; its close does the same later.
        let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);");
        let _ = self.connection.close();
    }

    /// Fails if the path no longer leads to the open file, because records in it would be lost.
    pub(crate) fn check_place(&self) -> Result<(), Fault> {
        match self.identity == FileIdentity::of(&self.path) {
            true => Ok(()),
            false => Err(Fault::new(&reason::AUDIT_FAILED)
                .note("ledger", "its file was removed or replaced while it was in use; a new one is begun")),
        }
    }

    /// Returns true if the chain contains this record, or has removed it.
    pub(crate) fn contains(&self, known: ChainHead) -> bool {
        let hash: rusqlite::Result<Option<Vec<u8>>> = self
            .connection
            .query_row("SELECT hash FROM record WHERE seq = ?1", [known.seq], |row| row.get(0))
            .optional();
        match hash {
            Ok(Some(hash)) => hash == known.hash.as_bytes(),
            Ok(None) => head(&self.connection).is_ok_and(|head| head.seq > known.seq),
            Err(_) => true,
        }
    }

    fn migrate(&mut self) -> Result<(), Fault> {
        let layout =
            |of: &Connection| of.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
        match layout(&self.connection).or_fault(&reason::AUDIT_FAILED)? {
            LAYOUT => return Ok(()),
            0..LAYOUT => {}
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

    /// Appends records to the chain in one transaction. Reads the head each time, because another process may
    /// have appended records.
    pub(crate) fn append(&mut self, drafts: &[RecordDraft], pace: SyncMode) -> Result<Vec<ChainHead>, Fault> {
        let added = self.begin().and_then(|transaction| {
            let before = head(&transaction)?;
            let added = add(&transaction, before, drafts, pace)?;
            transaction.commit()?;
            Ok(added)
        });
        let added = added.or_fault(&reason::AUDIT_FAILED)?;
        self.check_place()?;
        Ok(added)
    }
}

/// The pace of the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyncMode {
    /// The writer yields to other threads.
    Calm,
    /// Records arrive faster than they are written.
    Hurried,
}

/// Number of records between two yields.
const AT_A_TIME: usize = 16;

/// Yields to threads that serve requests. Formatting many records without a break would occupy a processor
/// for milliseconds.
pub(crate) fn let_others_first(place: usize, pace: SyncMode) {
    if pace == SyncMode::Calm && place % AT_A_TIME == AT_A_TIME - 1 {
        std::thread::yield_now();
    }
}

/// Inserts the records and returns the number and hash of each.
fn add(
    transaction: &Transaction<'_>,
    before: ChainHead,
    drafts: &[RecordDraft],
    pace: SyncMode,
) -> rusqlite::Result<Vec<ChainHead>> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO record (seq, at, ref, hash, body, class) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut head = before;
    let mut added = Vec::with_capacity(drafts.len());
    for (place, draft) in drafts.iter().enumerate() {
        let seq = head.seq + 1;
        head = ChainHead { seq, hash: head.hash.next(seq, draft.body.as_bytes()) };
        let class = draft.class as i64;
        insert.execute(params![seq, draft.at, draft.reference, head.hash.as_bytes(), draft.body, class])?;
        added.push(head);
        let_others_first(place, pace);
    }
    set_head(transaction, head)?;
    Ok(added)
}

fn set_head(transaction: &Transaction<'_>, head: ChainHead) -> rusqlite::Result<()> {
    let mut set =
        transaction.prepare_cached("INSERT OR REPLACE INTO head (one, seq, hash) VALUES (1, ?1, ?2)")?;
    set.execute(params![head.seq, head.hash.as_bytes()]).map(|_| ())
}

pub(crate) fn head(connection: &Connection) -> rusqlite::Result<ChainHead> {
    marked(connection, "SELECT seq, hash FROM head").map(|head| head.unwrap_or_else(ChainHead::genesis))
}

/// The id of the node that owns the chain.
pub(crate) fn node(connection: &Connection) -> rusqlite::Result<String> {
    connection.prepare_cached("SELECT id FROM node")?.query_row([], |row| row.get(0))
}

/// The last record that retention removed, if any.
pub(crate) fn pruned(connection: &Connection) -> rusqlite::Result<Option<ChainHead>> {
    marked(connection, "SELECT seq, hash FROM pruned")
}

/// The removed ranges after the removed beginning, in order. A file of an older layout has none.
pub(crate) fn gaps(connection: &Connection) -> rusqlite::Result<Vec<RemovedRange>> {
    if !has_classes(connection)? {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached("SELECT first, last, hash FROM gap ORDER BY first")?;
    let range = |row: &rusqlite::Row<'_>| {
        let hash: Vec<u8> = row.get(2)?;
        let hash = RecordHash::from_bytes(&hash).unwrap_or_else(RecordHash::genesis);
        Ok(RemovedRange { first: row.get(0)?, last: row.get(1)?, hash: hash.to_string() })
    };
    select.query_map([], range)?.collect()
}

/// What retention removed in all: class, number, and the time of the last in milliseconds since 1970.
pub(crate) fn removed(connection: &Connection) -> rusqlite::Result<Vec<(i64, i64, i64)>> {
    if !has_classes(connection)? {
        return Ok(Vec::new());
    }
    let mut select = connection.prepare_cached("SELECT class, records, until FROM removed ORDER BY class")?;
    select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

fn has_classes(connection: &Connection) -> rusqlite::Result<bool> {
    let layout: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(layout >= LAYOUT)
}

fn marked(connection: &Connection, query: &str) -> rusqlite::Result<Option<ChainHead>> {
    let mut select = connection.prepare_cached(query)?;
    let mut rows = select.query([])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let hash: Vec<u8> = row.get(1)?;
    Ok(Some(ChainHead {
        seq: row.get(0)?,
        hash: RecordHash::from_bytes(&hash).unwrap_or_else(RecordHash::genesis),
    }))
}
