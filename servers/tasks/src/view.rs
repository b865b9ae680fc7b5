//! Tasks and lists in the form for callers.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

use crate::account::cache::TaskCache;
use crate::dates::{iso, shown};
use crate::model::{List, Moment, Note, Task};

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct TaskView {
    /// What to pass as `task`.
    pub(crate) id: String,
    pub(crate) list_id: String,
    /// The name of its list.
    pub(crate) list: String,
    pub(crate) name: String,
    /// 1 (high), 2, 3 or none.
    pub(crate) priority: String,
    /// In the account's time zone: a date, with a time if it has one.
    pub(crate) due: Option<String>,
    /// The same in UTC.
    pub(crate) due_utc: Option<String>,
    /// In the account's time zone.
    pub(crate) start: Option<String>,
    /// When it was completed, in UTC.
    pub(crate) completed: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) notes: Vec<NoteView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) location_id: Option<String>,
    /// How it repeats, as an iCalendar rule; `every` or `after` comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repeat: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimate: Option<String>,
    /// The task it is below, by its own id alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_task_id: Option<String>,
    pub(crate) postponed: u64,
    /// When it was last changed, in UTC.
    pub(crate) modified: Option<String>,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NoteView {
    /// What to pass as `note`.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// A list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct ListView {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Whether it holds what its filter finds.
    pub(crate) smart: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) filter: Option<String>,
    pub(crate) archived: bool,
    /// Inbox and Sent: neither renamed nor deleted.
    pub(crate) locked: bool,
    /// Tasks in it that are not completed; not counted for smart lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open_tasks: Option<usize>,
}

impl TaskView {
    pub(crate) fn new(task: &Task, cache: &TaskCache, zone: &TimeZone) -> TaskView {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let local = |moment: Option<Moment>| moment.map(|moment| shown(moment, zone));
        TaskView {
            id: task.key.id(),
            list_id: task.list.clone(),
            list: cache.list_name(&task.list).to_owned(),
            name: task.name.clone(),
            priority: task.priority.as_str().to_owned(),
            due: local(task.due),
            due_utc: task.due.map(|due| iso(due.at)),
            start: local(task.start),
            completed: task.completed.map(iso),
            tags: task.tags.clone(),
            notes: task.notes.iter().map(NoteView::new).collect(),
            url: text(&task.url),
            location_id: text(&task.location),
            repeat: task
                .repeat
                .as_ref()
                .map(|it| format!("{} {}", if it.every { "every" } else { "after" }, it.rule)),
            estimate: text(&task.estimate),
            parent_task_id: text(&task.parent),
            postponed: task.postponed,
            modified: task.modified.map(iso),
        }
    }

    /// One line for people and models.
    pub(crate) fn line(&self) -> String {
        let mut line = format!("[{}] {}", if self.completed.is_some() { "x" } else { " " }, self.name);
        if self.priority != "none" {
            line.push_str(&format!(" !{}", self.priority));
        }
        if let Some(due) = &self.due {
            line.push_str(&format!(" · due {due}"));
        }
        if !self.list.is_empty() {
            line.push_str(&format!(" · {}", self.list));
        }
        for tag in &self.tags {
            line.push_str(&format!(" #{tag}"));
        }
        if !self.notes.is_empty() {
            line.push_str(&format!(" · {} notes", self.notes.len()));
        }
        line.push_str(&format!(" · id {}", self.id));
        line
    }
}

impl NoteView {
    fn new(note: &Note) -> NoteView {
        NoteView { id: note.id.clone(), title: note.title.clone(), text: note.text.clone() }
    }
}

impl ListView {
    pub(crate) fn new(list: &List, cache: &TaskCache) -> ListView {
        let open = || cache.tasks().filter(|task| task.list == list.id && task.completed.is_none()).count();
        ListView {
            id: list.id.clone(),
            name: list.name.clone(),
            smart: list.smart,
            filter: Some(list.filter.clone()).filter(|filter| !filter.is_empty()),
            archived: list.archived,
            locked: list.locked,
            open_tasks: (!list.smart).then(open),
        }
    }

    pub(crate) fn line(&self) -> String {
        let mut line = self.name.clone();
        if let Some(open) = self.open_tasks {
            line.push_str(&format!(" · {open} open"));
        }
        if let Some(filter) = &self.filter {
            line.push_str(&format!(" · smart: {filter}"));
        }
        for (mark, word) in [(self.archived, "archived"), (self.locked, "locked")] {
            if mark {
                line.push_str(&format!(" · {word}"));
            }
        }
        line.push_str(&format!(" · id {}", self.id));
        line
    }
}
