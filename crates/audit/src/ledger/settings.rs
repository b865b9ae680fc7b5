use std::path::PathBuf;
use std::sync::Arc;

use crate::export::replica::Replica;
use crate::sink::Sink;
use failwell_journal::{BodyRedactor, Redactor};

pub struct LedgerSettings {
    /// The folder of the ledger; created if missing.
    pub folder: PathBuf,
    pub durability: Durability,
    /// Maximum bytes of each body to record; `None` records no bodies.
    pub bodies: Option<usize>,
    pub retention: Retention,
    /// Redacts secrets in all stored text.
    pub redactor: Redactor,
    /// Redacts bodies, if they need more than secrets removed.
    pub body_redactor: Option<BodyRedactor>,
    /// Further destinations of the records.
    pub sinks: Vec<Box<dyn Sink>>,
    /// Replicas that must confirm a record before a critical response leaves.
    pub replicas: Vec<Replica>,
}

/// The guarantee for records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// A request never waits for its record. Records that cannot be written are counted, and the count is
    /// stored.
    BestEffort,
    /// A response leaves only after its record is on disk.
    Critical,
}

/// Limits of the ledger. The oldest records are removed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Maximum age in days; 0 means unlimited.
    pub days: u64,
    /// Maximum number of records; 0 means unlimited.
    pub records: u64,
    /// Maximum size in bytes; 0 means unlimited.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { days: 30, records: 1_000_000, bytes: 1 << 30 }
    }
}

impl LedgerSettings {
    pub const FILE: &'static str = "ledger.sqlite";

    /// Default settings: no bodies, best-effort durability, no redaction.
    pub fn in_folder(folder: impl Into<PathBuf>) -> LedgerSettings {
        LedgerSettings {
            folder: folder.into(),
            durability: Durability::BestEffort,
            bodies: None,
            retention: Retention::default(),
            redactor: Arc::new(str::to_owned),
            body_redactor: None,
            sinks: Vec::new(),
            replicas: Vec::new(),
        }
    }
}
