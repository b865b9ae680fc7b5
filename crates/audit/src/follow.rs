//! Following the ledger: what is in it is carried elsewhere, in order and from where it was left.
//!
//! The ledger itself is the buffer. A carrier that is behind reads on from its last number, after an outage or a new
//! start alike; only what the ledger no longer keeps is gone, and seen to be.

use std::path::PathBuf;
use std::sync::Arc;

use failwell_fault::Fault;
use tokio::sync::Notify;

use crate::chain::Head;
use crate::read::{Reading, Row};
use crate::sink::{Sink, Written};

/// A reader of one ledger that goes from record to record.
pub struct Following {
    folder: PathBuf,
    reading: Option<Reading>,
    bell: Arc<Notify>,
}

/// Some records, and where the ledger begins and ends.
#[derive(Debug)]
pub struct Batch {
    /// The records, oldest first.
    pub rows: Vec<Row>,
    /// The last record there is.
    pub head: Head,
    /// The last one that was removed for its age.
    pub removed: Option<Head>,
}

/// Rings when something was written.
pub struct Bell(Arc<Notify>);

impl Following {
    /// Follows the ledger of this folder. The bell belongs among its sinks.
    pub fn new(folder: impl Into<PathBuf>) -> (Following, Bell) {
        let bell = Arc::<Notify>::default();
        (Following { folder: folder.into(), reading: None, bell: bell.clone() }, Bell(bell))
    }

    /// Who keeps the chain; `None` while there is no ledger.
    pub fn node(&mut self) -> Result<Option<String>, Fault> {
        self.with(Reading::node)
    }

    /// What comes after a number: at most so many records, and so many bytes unless the first is larger. `None` while
    /// there is no ledger.
    pub fn after(&mut self, seq: i64, most: usize, bytes: usize) -> Result<Option<Batch>, Fault> {
        self.with(|reading| reading.batch(seq, most, bytes))
    }

    /// Completes when something was written since it was last asked.
    pub async fn rung(&self) {
        self.bell.notified().await;
    }

    fn with<T>(&mut self, look: impl FnOnce(&Reading) -> Result<T, Fault>) -> Result<Option<T>, Fault> {
        if self.reading.is_none() {
            self.reading = Reading::open(&self.folder)?;
        }
        let Some(reading) = &self.reading else { return Ok(None) };
        let found = look(reading);
        if found.is_err() {
            // What is open may be what is broken: begin anew next time.
            self.reading = None;
        }
        found.map(Some)
    }
}

impl Sink for Bell {
    fn name(&self) -> &'static str {
        "bell"
    }

    fn write(&mut self, _written: &[Written]) -> Result<(), Fault> {
        self.0.notify_one();
        Ok(())
    }
}
