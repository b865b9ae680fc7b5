//! The account's tasks and lists, updated incrementally.

use std::collections::{BTreeMap, HashMap};

use jiff::{Timestamp, ToSpan};

use crate::model::{List, Task, TaskKey, TaskUpdates};

#[derive(Debug, Default, Clone)]
pub(crate) struct TaskCache {
    tasks: BTreeMap<TaskKey, Task>,
    lists: HashMap<String, List>,
    /// The time of the latest known change, by the service's clock.
    latest: Option<Timestamp>,
    /// Increases with every change of the cache.
    pub(crate) edition: u64,
}

impl TaskCache {
    /// The start of the next incremental update: one second before the latest change, because two changes can
    /// share a second.
    pub(crate) fn since(&self) -> Option<Timestamp> {
        self.latest.and_then(|latest| latest.checked_sub(1.second()).ok())
    }

    pub(crate) fn replace_tasks(&mut self, updates: TaskUpdates) {
        self.tasks.clear();
        self.latest = None;
        self.edition += 1;
        self.apply(updates);
    }

    pub(crate) fn apply(&mut self, updates: TaskUpdates) {
        let mut changed = false;
        // A moved task is deleted from one list and present in another. Its presence has precedence.
        for (list, key) in updates.gone {
            if self.tasks.get(&key).is_some_and(|task| task.list == list) {
                self.tasks.remove(&key);
                changed = true;
            }
        }
        for task in updates.tasks {
            if self.tasks.get(&task.key) != Some(&task) {
                self.tasks.insert(task.key.clone(), task);
                changed = true;
            }
        }
        self.latest = self.latest.max(updates.latest);
        if changed {
            self.edition += 1;
        }
    }

    /// Removes a deleted task.
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

    /// All lists, sorted by name.
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
    use super::TaskCache;
    use crate::model::TaskUpdates;
    use serde_json::{Value, json};

    fn updates(list: &str, name: &str, gone_from: Option<&str>) -> TaskUpdates {
        let series =
            json!({"id": "1", "name": name, "modified": "2026-01-01T00:00:10Z", "task": {"id": "2"}});
        let mut lists = vec![json!({"id": list, "taskseries": [series]})];
        let gone = |from: &str| json!({"id": from, "deleted": {"taskseries": {"id": "1", "task": {"id": "2", "deleted": "2026-01-01T00:00:11Z"}}}});
        lists.extend(gone_from.map(gone));
        TaskUpdates::read(&json!({"tasks": {"list": lists}}))
    }

    #[test]
    fn a_task_that_moved_is_not_lost_whatever_comes_first() {
        let mut cache = TaskCache::default();
        cache.replace_tasks(updates("A", "x", None));
        cache.apply(updates("B", "x", Some("A")));
        assert_eq!(cache.tasks().map(|task| task.list.as_str()).collect::<Vec<_>>(), ["B"]);
        // The old list reports the deletion again.
        let gone: Value = json!({"tasks": {"list": {"id": "A", "deleted": {"taskseries": {"id": "1", "task": {"id": "2", "deleted": "2026-01-01T00:00:12Z"}}}}}});
        cache.apply(TaskUpdates::read(&gone));
        assert_eq!(cache.tasks().count(), 1);
        assert_eq!(cache.since().map(|it| it.to_string()).as_deref(), Some("2026-01-01T00:00:11Z"));
    }

    #[test]
    fn the_edition_rises_with_changes_alone() {
        let mut cache = TaskCache::default();
        cache.replace_tasks(updates("A", "x", None));
        let before = cache.edition;
        cache.apply(updates("A", "x", None));
        assert_eq!(cache.edition, before);
        cache.apply(updates("A", "y", None));
        assert!(cache.edition > before);
    }
}
