use std::path::PathBuf;
use std::time::Duration;

use failwell_connect::Trust;
use failwell_fault::{ReasonRegistry, Secret};
use failwell_journal::Redactor;

pub struct OtlpSettings {
    /// The base URL of the collector; `/v1/logs` and `/v1/traces` are appended.
    pub url: String,
    pub headers: Vec<(String, Secret<String>)>,
    /// The trusted certificate authorities for https.
    pub trust: Trust,
    /// Maximum time for one attempt.
    pub timeout: Duration,
    /// Maximum number of records or spans in one batch.
    pub batch: usize,
    /// Time to retry one batch of spans before it is dropped.
    pub budget: Duration,
    /// Exports the ledger's records.
    pub logs: Signal,
    pub folder: PathBuf,
    /// The name and version of this program for the collector.
    pub service: (&'static str, &'static str),
    /// Redacts secrets in names that callers chose.
    pub redactor: Redactor,
    /// Provides the severity of records.
    pub reasons: ReasonRegistry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Yes,
    No,
}
