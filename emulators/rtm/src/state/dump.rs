//! The whole account as JSON, to be compared with what a test expects.

use serde_json::{Value, json};

use super::State;
use super::account::{List, Note, Series, Task, TaskDate};

impl State {
    /// Lists, tasks and settings. Times of modification are left out: an undo changes them.
    pub(super) fn content(&self) -> Value {
        let account = &self.account;
        let people = |all: &mut dyn Iterator<Item = &super::account::Person>| -> Vec<Value> {
            all.map(
                |one| json!({"id": one.id.to_string(), "username": one.username, "fullname": one.fullname}),
            )
            .collect()
        };
        json!({
            "pro": account.is_pro,
            "timezone": account.zone_name,
            "default_list": account.default_list.map(|id| id.to_string()),
            "lists": account.lists.values().map(list).collect::<Vec<_>>(),
            "taskseries": account.series.values().map(series).collect::<Vec<_>>(),
            "locations": account.locations.values().map(|location| json!({
                "id": location.id.to_string(), "name": location.name,
            })).collect::<Vec<_>>(),
            "contacts": people(&mut account.contacts.values()),
            "groups": account.groups.values().map(|group| json!({
                "id": group.id.to_string(), "name": group.name,
                "contacts": group.contacts.iter().map(u64::to_string).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "subscriptions": account.subscriptions.values().map(|one| json!({
                "id": one.id.to_string(), "url": one.url, "topics": one.topics,
            })).collect::<Vec<_>>(),
            "scripts": account.scripts.values().map(|one| json!({
                "id": one.id.to_string(), "name": one.name,
            })).collect::<Vec<_>>(),
        })
    }
}

fn list(list: &List) -> Value {
    json!({
        "id": list.id.to_string(), "name": list.name, "deleted": list.is_deleted, "locked": list.is_locked,
        "archived": list.is_archived, "filter": list.filter,
    })
}

fn series(series: &Series) -> Value {
    json!({
        "id": series.id.to_string(), "list_id": series.list.to_string(), "name": series.name,
        "source": series.source, "url": series.url, "location_id": series.location.map(|id| id.to_string()),
        "parent_task_id": series.parent.map(|id| id.to_string()), "tags": series.tags,
        "external_id": series.external_id, "created": series.created.to_string(),
        "rrule": series.rule.as_ref().map(|rule| json!({"every": rule.every, "rule": rule.to_string()})),
        "notes": series.notes.iter().map(note).collect::<Vec<_>>(),
        "tasks": series.tasks.iter().map(task).collect::<Vec<_>>(),
    })
}

fn note(note: &Note) -> Value {
    json!({"id": note.id.to_string(), "title": note.title, "text": note.text})
}

fn task(task: &Task) -> Value {
    let when =
        |when: Option<TaskDate>| when.map(|when| json!({"at": when.at.to_string(), "timed": when.timed}));
    json!({
        "id": task.id.to_string(), "due": when(task.due), "start": when(task.start),
        "added": task.added.to_string(), "completed": task.completed.map(|at| at.to_string()),
        "deleted": task.deleted.map(|at| at.to_string()), "priority": task.priority.letter(),
        "postponed": task.postponed, "estimate": task.estimate,
    })
}
