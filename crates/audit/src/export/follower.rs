//! Reads the ledger for an exporter, in order and from the last exported record.
//!
//! The ledger itself is the buffer. After an outage or a restart, an exporter continues from its last
//! sequence number. Only records that retention has removed are missing, and the exporter detects the gap.

use std::path::PathBuf;
use std::sync::Arc;

use failwell_fault::Fault;
use tokio::sync::Notify;

use crate::ledger::chain::ChainHead;
use crate::ledger::reader::{LedgerReader, Row};
use crate::sink::{LedgerRecord, Sink};

/// Reads one ledger record by record.
pub struct LedgerFollower {
    folder: PathBuf,
    reader: Option<LedgerReader>,
    signal: Arc<Notify>,
}

/// Records, and the bounds of the ledger at the time of reading.
#[derive(Debug)]
pub struct Batch {
    /// The records, oldest first.
    pub rows: Vec<Row>,
    /// The last record of the ledger.
    pub head: ChainHead,
    /// The last record that retention removed.
    pub removed: Option<ChainHead>,
}

/// A sink that wakes the follower after each write.
pub struct WriteSignal(Arc<Notify>);

impl LedgerFollower {
    /// Follows the ledger in this folder. The caller adds the signal to the ledger's sinks.
    pub fn new(folder: impl Into<PathBuf>) -> (LedgerFollower, WriteSignal) {
        let signal = Arc::<Notify>::default();
        (LedgerFollower { folder: folder.into(), reader: None, signal: signal.clone() }, WriteSignal(signal))
    }

    /// The id of the node that owns the chain; `None` while there is no ledger.
    pub fn node(&mut self) -> Result<Option<String>, Fault> {
        self.with(LedgerReader::node)
    }

    /// Reads the records after `seq`: at most `most`, and at most `bytes` unless the first record is larger.
    /// Returns `None` while there is no ledger.
    pub fn after(&mut self, seq: i64, most: usize, bytes: usize) -> Result<Option<Batch>, Fault> {
        self.with(|reader| reader.batch(seq, most, bytes))
    }

    /// Completes after the next write, or at once if a write happened since the last call.
    pub async fn changed(&self) {
        self.signal.notified().await;
    }

    fn with<T>(&mut self, look: impl FnOnce(&LedgerReader) -> Result<T, Fault>) -> Result<Option<T>, Fault> {
        if self.reader.is_none() {
            self.reader = LedgerReader::open(&self.folder)?;
        }
        let Some(reader) = &self.reader else { return Ok(None) };
        let found = look(reader);
        if found.is_err() {
            // The connection may be the cause: reopen the file next time.
            self.reader = None;
        }
        found.map(Some)
    }
}

impl Sink for WriteSignal {
    fn name(&self) -> &'static str {
        "bell"
    }

    fn write(&mut self, _written: &[LedgerRecord]) -> Result<(), Fault> {
        self.0.notify_one();
        Ok(())
    }
}
