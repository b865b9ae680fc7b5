//! The last runs, in memory. A caller sees only its own runs.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::report::Report;

/// Maximum number of stored runs.
pub(crate) const MOST_RUNS: usize = 20;
/// Maximum total size of stored output, in bytes.
const MOST_OUTPUT: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct StoredRun {
    pub(crate) id: String,
    pub(crate) caller: String,
    pub(crate) project: PathBuf,
    pub(crate) ended: Instant,
    pub(crate) took: Duration,
    pub(crate) mode: &'static str,
    /// The description of its sandbox.
    pub(crate) sandbox_note: &'static str,
    pub(crate) status: &'static str,
    pub(crate) report: Report,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl StoredRun {
    /// The URI of its complete output.
    pub(crate) fn log_uri(id: &str) -> String {
        format!("pytest://runs/{id}/log")
    }

    /// Both outputs as one text.
    pub(crate) fn log(&self) -> String {
        format!("--- stdout ---\n{}\n--- stderr ---\n{}\n", self.stdout, self.stderr)
    }

    fn weight(&self) -> usize {
        self.stdout.len() + self.stderr.len()
    }
}

#[derive(Debug, Default)]
pub(crate) struct RunStore {
    runs: Mutex<VecDeque<Arc<StoredRun>>>,
}

impl RunStore {
    /// Stores a run and evicts the oldest runs beyond the limits.
    pub(crate) fn keep(&self, run: StoredRun) -> Arc<StoredRun> {
        let run = Arc::new(run);
        let mut runs = self.runs.lock();
        runs.push_back(run.clone());
        while runs.len() > MOST_RUNS
            || (runs.len() > 1 && runs.iter().map(|run| run.weight()).sum::<usize>() > MOST_OUTPUT)
        {
            runs.pop_front();
        }
        run
    }

    /// A caller's run by its id. A run of another caller is unknown.
    pub(crate) fn find(&self, id: &str, caller: &str) -> Option<Arc<StoredRun>> {
        let runs = self.runs.lock();
        runs.iter().find(|run| run.id == id && run.caller == caller).cloned()
    }

    /// A caller's runs, newest first.
    pub(crate) fn by_caller(&self, caller: &str) -> Vec<Arc<StoredRun>> {
        let runs = self.runs.lock();
        runs.iter().rev().filter(|run| run.caller == caller).cloned().collect()
    }
}
