//! Tasks and lists, decoded.

use jiff::Timestamp;
use serde_json::Value;

use crate::service::json::{flag, items, nested, number, some, text, words};

/// The identity of a task: its series and its own id. Its list can change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskKey {
    pub(crate) series: String,
    pub(crate) task: String,
}

impl TaskKey {
    /// Parses `series_task`.
    pub(crate) fn read(id: &str) -> Option<TaskKey> {
        let (series, task) = id.split_once('_')?;
        let is_id = |part: &str| {
            !part.is_empty()
                && part.len() <= 40
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let has_digit = |part: &str| part.bytes().any(|byte| byte.is_ascii_digit());
        let fits = is_id(series) && is_id(task) && has_digit(series) && has_digit(task);
        fits.then(|| TaskKey { series: series.to_owned(), task: task.to_owned() })
    }

    /// The form for callers.
    pub(crate) fn id(&self) -> String {
        format!("{}_{}", self.series, self.task)
    }
}

/// One task, including the data of its series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) key: TaskKey,
    pub(crate) list: String,
    pub(crate) name: String,
    pub(crate) tags: Vec<String>,
    pub(crate) notes: Vec<Note>,
    pub(crate) url: String,
    pub(crate) location: String,
    pub(crate) parent: String,
    pub(crate) source: String,
    pub(crate) external: String,
    pub(crate) repeat: Option<Repeat>,
    pub(crate) participants: usize,
    pub(crate) created: Option<Timestamp>,
    pub(crate) modified: Option<Timestamp>,
    pub(crate) added: Option<Timestamp>,
    pub(crate) due: Option<Moment>,
    pub(crate) start: Option<Moment>,
    pub(crate) completed: Option<Timestamp>,
    pub(crate) priority: Priority,
    pub(crate) postponed: u64,
    pub(crate) estimate: String,
}

/// A date, optionally with a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) at: Timestamp,
    pub(crate) has_time: bool,
}

/// The repetition of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repeat {
    pub(crate) every: bool,
    pub(crate) rule: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    High,
    Medium,
    Low,
    None,
}

impl Priority {
    pub(crate) fn read(text: &str) -> Priority {
        match text {
            "1" => Priority::High,
            "2" => Priority::Medium,
            "3" => Priority::Low,
            _ => Priority::None,
        }
    }

    /// The form for callers. The service writes `N` for none.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Priority::High => "1",
            Priority::Medium => "2",
            Priority::Low => "3",
            Priority::None => "none",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct List {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) archived: bool,
    pub(crate) locked: bool,
    pub(crate) smart: bool,
    pub(crate) filter: String,
}

impl List {
    pub(crate) fn read(value: &Value) -> Option<List> {
        // The service reports a deleted list once more.
        if flag(value, "deleted") {
            return None;
        }
        Some(List {
            id: some(value, "id")?,
            name: text(value, "name"),
            archived: flag(value, "archived"),
            locked: flag(value, "locked"),
            smart: flag(value, "smart"),
            filter: text(value, "filter"),
        })
    }
}

/// The tasks of a response: present ones, and deleted ones with their list.
#[derive(Debug, Default)]
pub(crate) struct TaskUpdates {
    pub(crate) tasks: Vec<Task>,
    pub(crate) gone: Vec<(String, TaskKey)>,
    /// The time of the latest change.
    pub(crate) latest: Option<Timestamp>,
}

impl TaskUpdates {
    /// Reads each `list`, either in `tasks` or next to the transaction of a change.
    pub(crate) fn read(answer: &Value) -> TaskUpdates {
        let mut updates = TaskUpdates::default();
        let places = if answer.get("tasks").is_some() { items(answer, "tasks") } else { vec![answer] };
        for list in places.into_iter().flat_map(|place| items(place, "list")) {
            let id = text(list, "id");
            for series in items(list, "taskseries") {
                updates.series(&id, series);
            }
            for series in nested(list, "deleted", "taskseries") {
                for task in items(series, "task") {
                    updates.note(time(task, "deleted"));
                    updates.gone.push((id.clone(), key(series, task)));
                }
            }
        }
        updates
    }

    fn series(&mut self, list: &str, series: &Value) {
        self.note(time(series, "modified"));
        for task in items(series, "task") {
            let read = read_task(list, series, task);
            for moment in [read.modified, read.added, read.completed, time(task, "deleted")] {
                self.note(moment);
            }
            match some(task, "deleted") {
                Some(_) => self.gone.push((list.to_owned(), read.key)),
                None => self.tasks.push(read),
            }
        }
    }

    fn note(&mut self, moment: Option<Timestamp>) {
        self.latest = self.latest.max(moment);
    }
}

fn key(series: &Value, task: &Value) -> TaskKey {
    TaskKey { series: text(series, "id"), task: text(task, "id") }
}

fn read_task(list: &str, series: &Value, task: &Value) -> Task {
    let of_either = |name: &str| some(task, name).or_else(|| some(series, name)).unwrap_or_default();
    let mut tags: Vec<String> = nested(series, "tags", "tag").into_iter().map(words).collect();
    tags.retain(|tag| !tag.is_empty());
    tags.sort();
    Task {
        key: key(series, task),
        list: list.to_owned(),
        name: text(series, "name"),
        tags,
        notes: nested(series, "notes", "note").into_iter().filter_map(read_note).collect(),
        url: text(series, "url"),
        location: text(series, "location_id"),
        parent: of_either("parent_task_id"),
        source: text(series, "source"),
        external: of_either("external_id"),
        repeat: read_repeat(series),
        participants: nested(series, "participants", "participant").len(),
        created: time(series, "created"),
        modified: time(task, "modified").max(time(series, "modified")),
        added: time(task, "added"),
        due: moment(task, "due", "has_due_time"),
        start: moment(task, "start", "has_start_time"),
        completed: time(task, "completed"),
        priority: Priority::read(&text(task, "priority")),
        postponed: number(task, "postponed"),
        estimate: text(task, "estimate"),
    }
}

fn read_note(note: &Value) -> Option<Note> {
    let body = some(note, "$t").or_else(|| some(note, "text")).unwrap_or_default();
    Some(Note { id: some(note, "id")?, title: text(note, "title"), text: body })
}

fn read_repeat(series: &Value) -> Option<Repeat> {
    let rule = items(series, "rrule").into_iter().next()?;
    let words = words(rule);
    (!words.is_empty()).then(|| Repeat { every: flag(rule, "every"), rule: words })
}

fn time(value: &Value, name: &str) -> Option<Timestamp> {
    text(value, name).parse().ok()
}

fn moment(task: &Value, name: &str, has_time: &str) -> Option<Moment> {
    Some(Moment { at: time(task, name)?, has_time: flag(task, has_time) })
}

#[cfg(test)]
mod tests {
    use super::{Priority, TaskKey, TaskUpdates};
    use serde_json::{Value, json};

    #[test]
    fn ids_are_distinguished_from_names() {
        for (id, is) in [
            ("123_456", true),
            ("a1_b2", true),
            ("buy_milk", false),
            ("1_2_3", false),
            ("1_", false),
            ("1 2_3", false),
        ] {
            assert_eq!(TaskKey::read(id).is_some(), is, "{id}");
        }
    }

    fn check(answer: &Value) {
        let updates = TaskUpdates::read(answer);
        assert_eq!((updates.tasks.len(), updates.gone.len()), (1, 1), "{answer}");
        let task = &updates.tasks[0];
        assert_eq!((task.key.id().as_str(), task.list.as_str(), task.name.as_str()), ("2_3", "1", "Milk"));
        assert_eq!(
            (task.tags.as_slice(), task.priority),
            (["a".to_owned(), "b".to_owned()].as_slice(), Priority::High)
        );
        assert_eq!(task.notes[0].text, "hello");
        assert_eq!(task.repeat.as_ref().map(|it| (it.every, it.rule.as_str())), Some((true, "FREQ=DAILY")));
        assert!(task.due.is_some_and(|due| !due.has_time) && task.completed.is_none());
        assert_eq!(updates.gone[0].1.id(), "8_9");
        assert_eq!(updates.latest.map(|it| it.to_string()).as_deref(), Some("2026-02-01T00:00:00Z"));
    }

    #[test]
    fn both_versions_and_their_quirks_say_the_same() {
        let task = json!({"id": "3", "due": "2026-03-01T23:00:00Z", "has_due_time": "0", "priority": "1", "completed": "", "deleted": "", "added": "2026-01-01T00:00:00Z"});
        let series = |task: Value| {
            json!({"id": "2", "name": "Milk", "modified": "2026-01-02T00:00:00Z",
            "tags": {"tag": ["b", "a"]}, "notes": {"note": {"id": "5", "title": "", "$t": "hello"}},
            "rrule": {"every": "1", "$t": "FREQ=DAILY"}, "task": task})
        };
        let gone = json!({"taskseries": {"id": "8", "task": {"id": "9", "deleted": "2026-02-01T00:00:00Z"}}});
        check(
            &json!({"tasks": {"rev": "x", "list": {"id": "1", "taskseries": series(task.clone()), "deleted": gone}}}),
        );
        check(
            &json!({"tasks": {"list": [{"id": "1", "taskseries": [series(json!([task]))], "deleted": [gone]}]}}),
        );
        check(
            &json!({"transaction": {"id": "7"}, "list": {"id": "1", "taskseries": series(json!([task])), "deleted": {"taskseries": [{"id": "8", "task": [{"id": "9", "deleted": "2026-02-01T00:00:00Z"}]}]}}}),
        );
        let updates = TaskUpdates::read(&json!({"tasks": {"rev": "x"}}));
        assert!(updates.tasks.is_empty() && updates.gone.is_empty());
    }
}
