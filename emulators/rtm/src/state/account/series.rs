use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::Id;
use crate::language::recurrence::Rule;

/// The common properties of the tasks of one recurrence. A task that does not repeat is a series of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Series {
    pub(crate) id: Id,
    pub(crate) list: Id,
    pub(crate) created: Timestamp,
    pub(crate) modified: Timestamp,
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) url: String,
    pub(crate) location: Option<Id>,
    pub(crate) parent: Option<Id>,
    pub(crate) tags: Vec<String>,
    pub(crate) participants: Vec<Id>,
    pub(crate) notes: Vec<Note>,
    pub(crate) rule: Option<Rule>,
    /// The series that came after this one, of an `after` recurrence.
    pub(crate) successor: Option<Id>,
    pub(crate) external_id: String,
    pub(crate) tasks: Vec<Task>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) id: Id,
    pub(crate) due: Option<TaskDate>,
    pub(crate) start: Option<TaskDate>,
    pub(crate) added: Timestamp,
    pub(crate) completed: Option<Timestamp>,
    pub(crate) deleted: Option<Timestamp>,
    pub(crate) priority: Priority,
    pub(crate) postponed: u32,
    pub(crate) estimate: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) id: Id,
    pub(crate) created: Timestamp,
    pub(crate) modified: Timestamp,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// A day, or a moment of it. A day is its first moment in the account's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskDate {
    pub(crate) at: Timestamp,
    pub(crate) timed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    High,
    Medium,
    Low,
    None,
}

impl TaskDate {
    /// The first moment of a day.
    pub(crate) fn day(date: Date, zone: &TimeZone) -> Option<TaskDate> {
        let at = zone.to_ambiguous_zoned(date.at(0, 0, 0, 0)).compatible().ok()?.timestamp();
        Some(TaskDate { at, timed: false })
    }

    pub(crate) fn date(self, zone: &TimeZone) -> Date {
        zone.to_datetime(self.at).date()
    }
}

impl Priority {
    pub(crate) fn read(text: &str) -> Option<Priority> {
        match text.trim().to_lowercase().as_str() {
            "1" | "high" => Some(Priority::High),
            "2" | "medium" => Some(Priority::Medium),
            "3" | "low" => Some(Priority::Low),
            "n" | "none" | "4" | "" => Some(Priority::None),
            _ => None,
        }
    }

    pub(crate) fn letter(self) -> &'static str {
        match self {
            Priority::High => "1",
            Priority::Medium => "2",
            Priority::Low => "3",
            Priority::None => "N",
        }
    }

    pub(crate) fn higher(self) -> Priority {
        match self {
            Priority::High | Priority::Medium => Priority::High,
            Priority::Low => Priority::Medium,
            Priority::None => Priority::Low,
        }
    }

    pub(crate) fn lower(self) -> Priority {
        match self {
            Priority::High => Priority::Medium,
            Priority::Medium => Priority::Low,
            Priority::Low | Priority::None => Priority::None,
        }
    }
}

impl Series {
    pub(crate) fn task(&self, id: Id) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Whether any task of it is left.
    pub(crate) fn is_alive(&self) -> bool {
        self.tasks.iter().any(|task| task.deleted.is_none())
    }
}

impl Task {
    pub(crate) fn new(id: Id, added: Timestamp) -> Task {
        Task {
            id,
            due: None,
            start: None,
            added,
            completed: None,
            deleted: None,
            priority: Priority::None,
            postponed: 0,
            estimate: String::new(),
        }
    }
}
