//! The changes of each caller, newest last, with their undo steps.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::model::TaskKey;

/// Maximum number of stored changes.
const MOST: usize = 500;

/// One call that changed the account.
#[derive(Debug, Clone)]
pub(crate) struct JournalEntry {
    pub(crate) number: u64,
    pub(crate) caller: String,
    pub(crate) tool: &'static str,
    /// The subject in the caller's words.
    pub(crate) about: String,
    pub(crate) when: jiff::Timestamp,
    pub(crate) steps: Vec<UndoStep>,
    pub(crate) undone: bool,
}

/// One undo step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UndoStep {
    /// The service undoes the transaction.
    Transaction(String),
    /// Deletes an added task.
    DeleteTask {
        list: String,
        key: TaskKey,
    },
    DeleteNote(String),
    DeleteList(String),
    /// An undo is impossible for this reason.
    Never(&'static str),
}

#[derive(Default)]
pub(crate) struct Journal(Mutex<JournalState>);

#[derive(Default)]
struct JournalState {
    entries: VecDeque<JournalEntry>,
    last: u64,
}

impl Journal {
    /// Adds the changes of a call.
    pub(crate) fn write(
        &self,
        caller: &str,
        tool: &'static str,
        about: &str,
        steps: Vec<UndoStep>,
    ) -> Option<u64> {
        if steps.is_empty() {
            return None;
        }
        let mut pages = self.0.lock();
        pages.last += 1;
        let number = pages.last;
        if pages.entries.len() >= MOST {
            pages.entries.pop_front();
        }
        let about = about.chars().take(200).collect();
        let (caller, when) = (caller.to_owned(), jiff::Timestamp::now());
        pages.entries.push_back(JournalEntry { number, caller, tool, about, when, steps, undone: false });
        Some(number)
    }

    /// A caller's changes, newest first.
    pub(crate) fn by_caller(&self, caller: &str) -> Vec<JournalEntry> {
        let pages = self.0.lock();
        pages.entries.iter().rev().filter(|entry| entry.caller == caller).cloned().collect()
    }

    /// Stores the remaining undo steps of a change.
    pub(crate) fn left(&self, number: u64, steps: Vec<UndoStep>) {
        let mut pages = self.0.lock();
        if let Some(entry) = pages.entries.iter_mut().find(|entry| entry.number == number) {
            entry.undone = steps.is_empty();
            entry.steps = steps;
        }
    }
}
