//! What each caller changed through this server, newest last, and how to take it back.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::model::TaskKey;

/// How many changes are remembered.
const MOST: usize = 500;

/// One call that changed something.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) number: u64,
    pub(crate) caller: String,
    pub(crate) tool: &'static str,
    /// What it was about, in the caller's own words.
    pub(crate) about: String,
    pub(crate) when: jiff::Timestamp,
    pub(crate) steps: Vec<Step>,
    pub(crate) undone: bool,
}

/// How one change is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// The service takes it back.
    Transaction(String),
    /// What was added is deleted.
    DeleteTask {
        list: String,
        key: TaskKey,
    },
    DeleteNote(String),
    DeleteList(String),
    /// Nobody can.
    Never(&'static str),
}

#[derive(Default)]
pub(crate) struct Journal(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    entries: VecDeque<Entry>,
    last: u64,
}

impl Journal {
    /// Writes down what a call changed.
    pub(crate) fn write(
        &self,
        caller: &str,
        tool: &'static str,
        about: &str,
        steps: Vec<Step>,
    ) -> Option<u64> {
        if steps.is_empty() {
            return None;
        }
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.last += 1;
        let number = pages.last;
        if pages.entries.len() >= MOST {
            pages.entries.pop_front();
        }
        let about = about.chars().take(200).collect();
        let (caller, when) = (caller.to_owned(), jiff::Timestamp::now());
        pages.entries.push_back(Entry { number, caller, tool, about, when, steps, undone: false });
        Some(number)
    }

    /// A caller's changes, newest first.
    pub(crate) fn of(&self, caller: &str) -> Vec<Entry> {
        let pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.entries.iter().rev().filter(|entry| entry.caller == caller).cloned().collect()
    }

    /// What is left to take back of a change.
    pub(crate) fn left(&self, number: u64, steps: Vec<Step>) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = pages.entries.iter_mut().find(|entry| entry.number == number) {
            entry.undone = steps.is_empty();
            entry.steps = steps;
        }
    }
}
