use std::path::PathBuf;
use std::time::Duration;

use failwell_audit::Redactor;
use failwell_fault::Secret;
use failwell_transport::Trust;

/// Where things go, and within which bounds.
pub struct OtlpSettings {
    /// The collector's address; `/v1/logs` and `/v1/traces` are added to it.
    pub url: String,
    /// Headers of every request.
    pub headers: Vec<(String, Secret<String>)>,
    /// Who may vouch for it over https.
    pub trust: Trust,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How many records or spans go at once at the most.
    pub batch: usize,
    /// How long one batch of spans is tried again before it is given up.
    pub budget: Duration,
    /// Whether the ledger's records go there.
    pub logs: Wanted,
    /// The folder of the ledger.
    pub folder: PathBuf,
    /// What this program is called there, and its version.
    pub service: (&'static str, &'static str),
    /// Takes secrets out of names that callers chose.
    pub redactor: Redactor,
}

/// Whether something is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// It is.
    Yes,
    /// It is not.
    No,
}
