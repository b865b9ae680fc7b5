//! Transactions: what a write changed, and how that is taken back.
//!
//! An undo restores the fields that one write changed. Later changes of other fields stay.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::account::{Account, DeletedTask, Id, List, Note, Series, Task};

/// The values before the running method changed them; `None` for what it created.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal {
    pub(crate) series: BTreeMap<Id, Option<Series>>,
    pub(crate) lists: BTreeMap<Id, Option<List>>,
}

#[derive(Debug, Clone)]
struct ValueChange<T> {
    before: Option<T>,
    after: Option<T>,
}

#[derive(Debug, Clone)]
pub(crate) struct Transaction {
    pub(crate) timeline: String,
    pub(crate) can_be_undone: bool,
    series: Vec<(Id, ValueChange<Series>)>,
    lists: Vec<(Id, ValueChange<List>)>,
}

/// Puts back the named fields where the write changed them.
macro_rules! put_back {
    ($now:ident, $before:ident, $after:ident: $($field:ident),*) => {
        $(if $before.$field != $after.$field {
            $now.$field = $before.$field.clone();
        })*
    };
}

impl Transaction {
    pub(crate) fn new(
        journal: Journal,
        account: &Account,
        timeline: String,
        can_be_undone: bool,
    ) -> Transaction {
        let series = journal.series.into_iter();
        let lists = journal.lists.into_iter();
        Transaction {
            timeline,
            can_be_undone,
            series: series
                .map(|(id, before)| (id, ValueChange { before, after: account.series.get(&id).cloned() }))
                .collect(),
            lists: lists
                .map(|(id, before)| (id, ValueChange { before, after: account.lists.get(&id).cloned() }))
                .collect(),
        }
    }

    /// Takes it back.
    pub(crate) fn undo(&self, account: &mut Account, now: Timestamp) {
        for (id, change) in &self.lists {
            undo_list(account, *id, change);
        }
        for (id, change) in &self.series {
            undo_series(account, *id, change, now);
        }
    }
}

fn undo_list(account: &mut Account, id: Id, change: &ValueChange<List>) {
    match (&change.before, &change.after, account.lists.get_mut(&id)) {
        (Some(before), Some(after), Some(now)) => {
            put_back!(now, before, after: name, is_deleted, is_locked, is_archived, position, filter);
        }
        (None, _, Some(_)) => {
            account.lists.remove(&id);
        }
        _ => {}
    }
}

fn undo_series(account: &mut Account, id: Id, change: &ValueChange<Series>, at: Timestamp) {
    let (Some(now), Some(after)) = (account.series.get_mut(&id), &change.after) else { return };
    let here = now.list;
    let everything = || now.tasks.iter().map(|task| task.id).collect::<Vec<Id>>();
    let gone = match &change.before {
        None => {
            let gone = everything();
            account.series.remove(&id);
            gone
        }
        Some(before) => {
            let moved = if before.list == after.list { vec![] } else { everything() };
            put_back!(now, before, after:
                list, name, source, url, location, parent, tags, participants, rule, successor, external_id);
            let made = undo_tasks(&mut now.tasks, &before.tasks, &after.tasks);
            undo_notes(&mut now.notes, &before.notes, &after.notes);
            now.modified = at;
            moved.into_iter().chain(made).collect()
        }
    };
    for task in gone {
        account.record_deleted(DeletedTask { list: here, series: id, task, at });
    }
}

/// Takes away the tasks the write made, and says which they were; puts back the others.
fn undo_tasks(tasks: &mut Vec<Task>, before: &[Task], after: &[Task]) -> Vec<Id> {
    let was_there = |id: Id| before.iter().any(|task| task.id == id);
    let made: Vec<Id> = after.iter().map(|task| task.id).filter(|id| !was_there(*id)).collect();
    tasks.retain(|task| !made.contains(&task.id));
    for now in tasks {
        let find = |all: &'_ [Task]| all.iter().find(|task| task.id == now.id).cloned();
        if let (Some(before), Some(after)) = (find(before), find(after)) {
            put_back!(now, before, after: due, start, completed, deleted, priority, postponed, estimate);
        }
    }
    made
}

fn undo_notes(notes: &mut Vec<Note>, before: &[Note], after: &[Note]) {
    let in_list = |all: &[Note], id: Id| all.iter().any(|note| note.id == id);
    notes.retain(|note| in_list(before, note.id) || !in_list(after, note.id));
    for (place, lost) in before.iter().enumerate().filter(|(_, note)| !in_list(after, note.id)) {
        notes.insert(place.min(notes.len()), lost.clone());
    }
    for now in notes {
        let find = |all: &'_ [Note]| all.iter().find(|note| note.id == now.id).cloned();
        if let (Some(before), Some(after)) = (find(before), find(after)) {
            put_back!(now, before, after: title, text, modified);
        }
    }
}
