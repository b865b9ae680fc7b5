use std::path::PathBuf;
use std::sync::Arc;

use crate::redact::{BodyRedactor, Redactor};
use crate::sink::Sink;
use crate::witness::Witness;

/// How a ledger is kept.
pub struct LedgerSettings {
    /// The folder it is kept in; made when it is not there.
    pub folder: PathBuf,
    /// What happens to an answer whose record cannot be kept.
    pub promise: Promise,
    /// Whether what came in and went out is kept too, and how many bytes of each; `None` for not at all.
    pub bodies: Option<usize>,
    /// How much is kept.
    pub retention: Retention,
    /// Takes secrets out of what is kept.
    pub redactor: Redactor,
    /// The same for bodies, where more than secrets is taken out of them.
    pub body_redactor: Option<BodyRedactor>,
    /// Where records go besides.
    pub sinks: Vec<Box<dyn Sink>>,
    /// Who else must have a record before a critical answer leaves.
    pub witnesses: Vec<Witness>,
}

/// What a record is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// A request never waits for its record; what cannot be kept is counted, and the count is kept.
    BestEffort,
    /// No record on disk, no answer.
    Critical,
}

/// How much is kept; the oldest records go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// For how many days; 0 for ever.
    pub days: u64,
    /// How many records; 0 for any number.
    pub records: u64,
    /// How many bytes; 0 for any number.
    pub bytes: u64,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { days: 30, records: 1_000_000, bytes: 1 << 30 }
    }
}

impl LedgerSettings {
    /// The name of the ledger's file.
    pub const FILE: &'static str = "ledger.sqlite";

    /// A ledger in this folder that keeps no bodies, promises nothing and redacts nothing.
    pub fn in_folder(folder: impl Into<PathBuf>) -> LedgerSettings {
        LedgerSettings {
            folder: folder.into(),
            promise: Promise::BestEffort,
            bodies: None,
            retention: Retention::default(),
            redactor: Arc::new(str::to_owned),
            body_redactor: None,
            sinks: Vec::new(),
            witnesses: Vec::new(),
        }
    }
}
