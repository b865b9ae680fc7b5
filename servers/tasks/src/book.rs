//! What is known of the account's tasks and lists, kept up with the service change by change.

use std::collections::{BTreeMap, HashMap};

use jiff::{Timestamp, ToSpan};

use crate::model::{List, Task, TaskKey, Told};

/// The tasks and lists as they were last told.
#[derive(Debug, Default, Clone)]
pub(crate) struct Book {
    tasks: BTreeMap<TaskKey, Task>,
    lists: HashMap<String, List>,
    /// The latest change anybody told of, by the service's clock.
    latest: Option<Timestamp>,
    /// Rises with every change of what is known.
    pub(crate) edition: u64,
}

impl Book {
    /// From when on changes are asked for: a second before the latest, because a second has room for two.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        self.latest.and_then(|latest| latest.checked_sub(1.second()).ok())
    }

    /// Everything is as this says.
    pub(crate) fn replace_tasks(&mut self, told: Told) {
        self.tasks.clear();
        self.latest = None;
        self.edition += 1;
        self.apply(told);
    }

    /// These changed.
    pub(crate) fn apply(&mut self, told: Told) {
        let mut changed = false;
        // A task that moved is gone from one list and there in another: what is there wins.
        for (list, key) in told.gone {
            if self.tasks.get(&key).is_some_and(|task| task.list == list) {
                self.tasks.remove(&key);
                changed = true;
            }
        }
        for task in told.tasks {
            if self.tasks.get(&task.key) != Some(&task) {
                self.tasks.insert(task.key.clone(), task);
                changed = true;
            }
        }
        self.latest = self.latest.max(told.latest);
        if changed {
            self.edition += 1;
        }
    }

    /// A task that is known to be gone.
    pub(crate) fn forget(&mut self, key: &TaskKey) {
        if self.tasks.remove(key).is_some() {
            self.edition += 1;
        }
    }

    pub(crate) fn replace_lists(&mut self, lists: Vec<List>) {
        let lists: HashMap<String, List> = lists.into_iter().map(|list| (list.id.clone(), list)).collect();
        if lists != self.lists {
            self.lists = lists;
            self.edition += 1;
        }
    }

    pub(crate) fn put_list(&mut self, list: List) {
        self.lists.insert(list.id.clone(), list);
        self.edition += 1;
    }

    pub(crate) fn forget_list(&mut self, id: &str) {
        self.lists.remove(id);
        self.tasks.retain(|_, task| task.list != id);
        self.edition += 1;
    }

    pub(crate) fn task(&self, key: &TaskKey) -> Option<&Task> {
        self.tasks.get(key)
    }

    pub(crate) fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values()
    }

    /// The lists by name.
    pub(crate) fn lists(&self) -> Vec<&List> {
        let mut all: Vec<&List> = self.lists.values().collect();
        all.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        all
    }

    pub(crate) fn list(&self, id: &str) -> Option<&List> {
        self.lists.get(id)
    }

    pub(crate) fn list_name(&self, id: &str) -> &str {
        self.lists.get(id).map_or("", |list| list.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Book;
    use crate::model::Told;
    use serde_json::{Value, json};

    fn told(list: &str, name: &str, gone_from: Option<&str>) -> Told {
        let series =
            json!({"id": "1", "name": name, "modified": "2026-01-01T00:00:10Z", "task": {"id": "2"}});
        let mut lists = vec![json!({"id": list, "taskseries": [series]})];
        let gone = |from: &str| json!({"id": from, "deleted": {"taskseries": {"id": "1", "task": {"id": "2", "deleted": "2026-01-01T00:00:11Z"}}}});
        lists.extend(gone_from.map(gone));
        Told::read(&json!({"tasks": {"list": lists}}))
    }

    #[test]
    fn a_task_that_moved_is_not_lost_whatever_comes_first() {
        let mut book = Book::default();
        book.replace_tasks(told("A", "x", None));
        book.apply(told("B", "x", Some("A")));
        assert_eq!(book.tasks().map(|task| task.list.as_str()).collect::<Vec<_>>(), ["B"]);
        // The old list says once more that it is gone.
        let gone: Value = json!({"tasks": {"list": {"id": "A", "deleted": {"taskseries": {"id": "1", "task": {"id": "2", "deleted": "2026-01-01T00:00:12Z"}}}}}});
        book.apply(Told::read(&gone));
        assert_eq!(book.tasks().count(), 1);
        assert_eq!(book.since().map(|it| it.to_string()).as_deref(), Some("2026-01-01T00:00:11Z"));
    }

    #[test]
    fn the_edition_rises_with_changes_alone() {
        let mut book = Book::default();
        book.replace_tasks(told("A", "x", None));
        let before = book.edition;
        book.apply(told("A", "x", None));
        assert_eq!(book.edition, before);
        book.apply(told("A", "y", None));
        assert!(book.edition > before);
    }
}
