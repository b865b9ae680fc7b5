//! The last runs, kept in memory for whoever started them.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::report::Report;

/// How many runs are kept.
pub(crate) const MOST_RUNS: usize = 20;
/// Bytes of output kept over all runs.
const MOST_OUTPUT: usize = 64 * 1024 * 1024;

/// One finished run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) caller: String,
    pub(crate) project: PathBuf,
    pub(crate) ended: Instant,
    pub(crate) took: Duration,
    pub(crate) mode: &'static str,
    /// What is said of the walls around it.
    pub(crate) walls: &'static str,
    pub(crate) status: &'static str,
    pub(crate) report: Report,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Where its whole output can be read.
    pub(crate) fn log_uri(id: &str) -> String {
        format!("pytest://runs/{id}/log")
    }

    /// Both outputs in one text.
    pub(crate) fn log(&self) -> String {
        format!("--- stdout ---\n{}\n--- stderr ---\n{}\n", self.stdout, self.stderr)
    }

    fn weight(&self) -> usize {
        self.stdout.len() + self.stderr.len()
    }
}

/// The last runs.
#[derive(Debug, Default)]
pub(crate) struct Store {
    runs: Mutex<VecDeque<Arc<Run>>>,
}

impl Store {
    /// Keeps a run, and lets go of the oldest where there are too many.
    pub(crate) fn keep(&self, run: Run) -> Arc<Run> {
        let run = Arc::new(run);
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.push_back(run.clone());
        while runs.len() > MOST_RUNS
            || (runs.len() > 1 && runs.iter().map(|run| run.weight()).sum::<usize>() > MOST_OUTPUT)
        {
            runs.pop_front();
        }
        run
    }

    /// A caller's run by its id. Somebody else's is as unknown as one that never was.
    pub(crate) fn find(&self, id: &str, caller: &str) -> Option<Arc<Run>> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.iter().find(|run| run.id == id && run.caller == caller).cloned()
    }

    /// A caller's runs, newest first.
    pub(crate) fn of(&self, caller: &str) -> Vec<Arc<Run>> {
        let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.iter().rev().filter(|run| run.caller == caller).cloned().collect()
    }
}
