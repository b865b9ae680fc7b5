//! The invariants of a run, and their violations.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;

use crate::processes::{self, Processes};
use crate::upstreams::{CREDENTIAL, SECRETS};

/// The most memory after a run and at its peak, in KiB.
const MOST_LEFT: u64 = 64 * 1024;
const MOST_TAKEN: u64 = 512 * 1024;
/// The most problems that are printed.
const SHOWN: usize = 20;

/// The findings.
#[derive(Default)]
pub(crate) struct Verdict(Mutex<Observations>);

#[derive(Default)]
struct Observations {
    problems: Vec<String>,
    outcomes: BTreeMap<String, usize>,
    references: Vec<String>,
    figures: Vec<String>,
}

impl Verdict {
    /// Records a problem unless this holds.
    pub(crate) fn check(&self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.0.lock().problems.push(problem());
        }
    }

    /// A figure of the report.
    pub(crate) fn figure(&self, figure: String) {
        self.0.lock().figures.push(figure);
    }

    /// Counts the outcome of a call.
    pub(crate) fn count(&self, outcome: String) {
        *self.0.lock().outcomes.entry(outcome).or_default() += 1;
    }

    /// A failure that must be in the journal, too.
    pub(crate) fn failed_as(&self, reference: String) {
        self.0.lock().references.push(reference);
    }

    /// The number of calls with this outcome.
    pub(crate) fn counted(&self, prefix: &str) -> usize {
        let found = self.0.lock();
        found.outcomes.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, count)| count).sum()
    }

    /// No response contains a secret.
    pub(crate) fn no_secrets(&self, text: &str) {
        for secret in SECRETS.iter().filter(|secret| text.contains(**secret)) {
            self.check(false, || format!("{secret} reached a caller"));
        }
    }

    /// Memory is released.
    pub(crate) fn memory(&self, before: u64, after: u64, most: u64) {
        self.figure(format!("memory: {before} KiB before, {after} KiB after, {most} KiB at the most"));
        self.check(after <= before + MOST_LEFT, || format!("memory grew from {before} to {after} KiB"));
        self.check(most <= MOST_TAKEN, || format!("memory reached {most} KiB"));
    }

    /// Every child that ended was waited for.
    pub(crate) async fn no_zombies(&self, parent: i32, patience: Duration) {
        let none = until(patience, || processes::zombies(parent) == 0).await;
        self.check(none, || format!("{} zombies", processes::zombies(parent)));
    }

    /// No child process outlives its parent.
    pub(crate) async fn no_process_left(&self, mark: &str, were: &Processes, patience: Duration) {
        let gone = until(patience, || processes::marked(mark).is_empty() && were.alive().is_empty()).await;
        self.check(gone, || format!("left behind: {:?} and {:?}", processes::marked(mark), were.alive()));
    }

    /// Every journal line is JSON, and every failure that a caller got is there once, under its reference.
    pub(crate) fn journal(&self, journal: &str) {
        let mut lines: HashMap<String, usize> = HashMap::new();
        for line in journal.lines() {
            let entry: Option<Value> = serde_json::from_str(line).ok();
            self.check(entry.is_some(), || format!("a line of the journal is not JSON: {line:.200}"));
            let reference = entry.as_ref().and_then(|entry| entry["ref"].as_str());
            *lines.entry(reference.unwrap_or_default().to_owned()).or_default() += 1;
        }
        let references = self.0.lock().references.clone();
        for reference in &references {
            let count = lines.get(reference).copied().unwrap_or(0);
            self.check(count == 1, || format!("{count} lines in the journal for {reference}"));
        }
        self.check(!journal.contains(CREDENTIAL), || "our own credentials are in the journal".to_owned());
        self.figure(format!(
            "journal: {} lines, {} failures told",
            journal.lines().count(),
            references.len()
        ));
    }

    pub(crate) fn is_good(&self) -> bool {
        self.0.lock().problems.is_empty()
    }

    pub(crate) fn print(&self) {
        let found = self.0.lock();
        for (outcome, count) in &found.outcomes {
            println!("{count:>6} {outcome}");
        }
        found.figures.iter().for_each(|figure| println!("{figure}"));
        found.problems.iter().take(SHOWN).for_each(|problem| println!("PROBLEM {problem}"));
        println!("{} problems", found.problems.len());
    }
}

async fn until(patience: Duration, holds: impl Fn() -> bool) -> bool {
    let end = tokio::time::Instant::now() + patience;
    while tokio::time::Instant::now() < end {
        if holds() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    holds()
}
