//! The changes of each caller, newest last, with their undo steps.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::model::TaskKey;
use crate::service::signature::Params;

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
    /// Makes the opposite change, because the service has no transaction to undo.
    Opposite {
        method: &'static str,
        params: Params,
    },
    /// An undo is impossible for this reason.
    Never(&'static str),
}

impl UndoStep {
    /// The reason why this step cannot be undone, if so.
    pub(crate) fn obstacle(&self) -> Option<&'static str> {
        match self {
            UndoStep::Never(why) => Some(why),
            _ => None,
        }
    }
}

impl JournalEntry {
    /// Whether any of its steps can be undone.
    pub(crate) fn is_undoable(&self) -> bool {
        !self.undone && self.steps.iter().any(|step| step.obstacle().is_none())
    }

    /// The reason why it, or a part of it, cannot be undone.
    pub(crate) fn obstacle(&self) -> Option<&'static str> {
        self.steps.iter().find_map(UndoStep::obstacle)
    }
}

#[derive(Default)]
pub(crate) struct Journal(Mutex<JournalState>);

#[derive(Default)]
struct JournalState {
    entries: VecDeque<JournalEntry>,
    last: u64,
    /// The last undo of a caller that never heard of it: caller, requested number, changes taken back.
    unconfirmed_undos: VecDeque<(String, usize, Vec<u64>)>,
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

    /// Returns true if a change that is not undone has this undo step.
    pub(crate) fn has(&self, step: &UndoStep) -> bool {
        let pages = self.0.lock();
        pages.entries.iter().any(|entry| !entry.undone && entry.steps.contains(step))
    }

    /// Remembers an undo whose caller is gone.
    pub(crate) fn note_unconfirmed_undo(&self, caller: &str, wanted: usize, numbers: Vec<u64>) {
        let mut pages = self.0.lock();
        pages.unconfirmed_undos.retain(|(of, ..)| of != caller);
        if pages.unconfirmed_undos.len() >= MOST {
            pages.unconfirmed_undos.pop_front();
        }
        pages.unconfirmed_undos.push_back((caller.to_owned(), wanted, numbers));
    }

    /// Takes the changes that an equal undo of this caller took back unconfirmed_undos, newest first.
    pub(crate) fn take_unconfirmed_undo(&self, caller: &str, wanted: usize) -> Vec<JournalEntry> {
        let mut pages = self.0.lock();
        let found =
            pages.unconfirmed_undos.iter().position(|(of, count, _)| of == caller && *count == wanted);
        let Some((_, _, numbers)) = found.and_then(|place| pages.unconfirmed_undos.remove(place)) else {
            return Vec::new();
        };
        pages.entries.iter().rev().filter(|entry| numbers.contains(&entry.number)).cloned().collect()
    }
}
