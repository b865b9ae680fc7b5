//! The only ways to change lists and tasks: each keeps what was there before, for the undo.

use jiff::Timestamp;

use super::{Account, DeletedTask, Id, List, Series, Task};
use crate::state::undo::Transaction;

/// How many are remembered.
const MOST_GONE: usize = 100_000;

impl Account {
    /// Changes a series and counts it as modified.
    pub(crate) fn change<T>(
        &mut self,
        id: Id,
        now: Timestamp,
        change: impl FnOnce(&mut Series) -> T,
    ) -> Option<T> {
        let series = self.series.get_mut(&id)?;
        self.journal.series.entry(id).or_insert_with(|| Some(series.clone()));
        series.modified = now;
        Some(change(series))
    }

    /// Changes one task of a series.
    pub(crate) fn change_task(
        &mut self,
        series: Id,
        task: Id,
        now: Timestamp,
        change: impl FnOnce(&mut Task),
    ) -> Option<()> {
        self.change(series, now, |series| series.tasks.iter_mut().find(|known| known.id == task).map(change))?
    }

    pub(crate) fn change_list(&mut self, id: Id, change: impl FnOnce(&mut List)) -> Option<()> {
        let list = self.lists.get_mut(&id)?;
        self.journal.lists.entry(id).or_insert_with(|| Some(list.clone()));
        change(list);
        Some(())
    }

    pub(crate) fn insert(&mut self, series: Series) {
        self.journal.series.entry(series.id).or_insert(None);
        self.series.insert(series.id, series);
    }

    pub(crate) fn insert_list(&mut self, list: List) {
        self.journal.lists.entry(list.id).or_insert(None);
        self.lists.insert(list.id, list);
    }

    /// Moves a series, its sub-tasks with it, and notes where they are no longer.
    pub(crate) fn relocate(&mut self, series: Id, to: Id, now: Timestamp) {
        let moved = self.change(series, now, |series| {
            let from = std::mem::replace(&mut series.list, to);
            let tasks: Vec<Id> = series.tasks.iter().map(|task| task.id).collect();
            (from, tasks)
        });
        let Some((from, tasks)) = moved.filter(|(from, _)| *from != to) else { return };
        for task in tasks {
            self.record_deleted(DeletedTask { list: from, series, task, at: now });
            for child in self.children(task) {
                self.relocate(child, to, now);
            }
        }
    }

    /// Notes where a task is no longer.
    pub(crate) fn record_deleted(&mut self, gone: DeletedTask) {
        if self.gone.len() >= MOST_GONE {
            self.gone.pop_front();
        }
        self.gone.push_back(gone);
    }

    /// Closes the book on the running method: what it changed, to be kept for an undo.
    pub(crate) fn finish(&mut self, timeline: String, can_be_undone: bool) -> Transaction {
        let journal = std::mem::take(&mut self.journal);
        Transaction::new(journal, self, timeline, can_be_undone)
    }
}
