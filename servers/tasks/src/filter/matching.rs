use jiff::civil::Date;
use jiff::{Timestamp, Zoned};

use super::{Field, Filter, Operator, Relation, Term};
use crate::account::cache::TaskCache;
use crate::dates::{Days, day, shifted};
use crate::model::{Priority, Task};

/// The data besides the task.
pub(crate) struct MatchContext<'a> {
    pub(crate) cache: &'a TaskCache,
    pub(crate) now: &'a Zoned,
}

/// Whether a task matches. `None` if only the service can decide.
pub(crate) fn matches(filter: &Filter, task: &Task, context: &MatchContext<'_>) -> Option<bool> {
    match filter {
        Filter::All => Some(true),
        Filter::Not(inner) => matches(inner, task, context).map(|fits| !fits),
        Filter::And(parts) => {
            let mut unsure = false;
            for part in parts {
                match matches(part, task, context) {
                    Some(false) => return Some(false),
                    Some(true) => {}
                    None => unsure = true,
                }
            }
            (!unsure).then_some(true)
        }
        Filter::Or(parts) => {
            let mut unsure = false;
            for part in parts {
                match matches(part, task, context) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => unsure = true,
                }
            }
            (!unsure).then_some(false)
        }
        Filter::Term(term) => fits(term, task, context),
    }
}

fn fits(term: &Term, task: &Task, context: &MatchContext<'_>) -> Option<bool> {
    let value = term.value.trim();
    let same = |text: &str| text.eq_ignore_ascii_case(value) || text.to_lowercase() == value.to_lowercase();
    let holds = |text: &str| text.to_lowercase().contains(&value.to_lowercase());
    let is = |flag: bool| truth(value).map(|wanted| wanted == flag);
    match term.operator {
        Operator::List => Some(in_list(value, task, context)),
        Operator::Priority => Some(task.priority == priority(value)?),
        Operator::Status => match value.to_ascii_lowercase().as_str() {
            "incomplete" => Some(task.completed.is_none()),
            "completed" => Some(task.completed.is_some()),
            _ => Some(false),
        },
        Operator::Tag => Some(task.tags.iter().any(|tag| same(tag))),
        Operator::TagContains => Some(task.tags.iter().any(|tag| holds(tag))),
        Operator::IsTagged => is(!task.tags.is_empty()),
        Operator::IsLocated => is(!task.location.is_empty()),
        Operator::IsRepeating => is(task.repeat.is_some()),
        Operator::IncludeArchived => Some(true),
        Operator::Name | Operator::Word => Some(holds(&task.name)),
        Operator::NoteContains => Some(task.notes.iter().any(|note| holds(&note.text) || holds(&note.title))),
        Operator::HasNotes => is(!task.notes.is_empty()),
        Operator::When(field, relation) => when(field, relation, value, task, context.now),
        Operator::HasTimeEstimate => is(!task.estimate.is_empty()),
        Operator::Postponed => compare(value, task.postponed),
        Operator::IsSubtask => is(!task.parent.is_empty()),
        Operator::HasSubtasks => is(context.cache.tasks().any(|other| other.parent == task.key.task)),
        Operator::IsShared => is(task.participants > 0),
        // Only the service can evaluate locations, attachments, people, time estimates and sources.
        Operator::Location
        | Operator::LocationWithin
        | Operator::Filename
        | Operator::HasAttachments
        | Operator::TimeEstimate
        | Operator::SharedWith
        | Operator::IsReceived
        | Operator::Source => None,
    }
}

/// Compares the name of the task's list. Smart lists are not resolved here.
fn in_list(value: &str, task: &Task, context: &MatchContext<'_>) -> bool {
    context.cache.list(&task.list).is_some_and(|list| list.name.to_lowercase() == value.to_lowercase())
}

fn truth(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn priority(value: &str) -> Option<Priority> {
    match value.to_ascii_lowercase().as_str() {
        "1" | "high" => Some(Priority::High),
        "2" | "medium" => Some(Priority::Medium),
        "3" | "low" => Some(Priority::Low),
        "none" | "n" => Some(Priority::None),
        _ => None,
    }
}

/// `3`, `> 3`, `< 3`.
fn compare(value: &str, number: u64) -> Option<bool> {
    let (sign, wanted) = match value.strip_prefix(['>', '<', '=']) {
        Some(rest) => (value.chars().next().unwrap_or('='), rest),
        None => ('=', value),
    };
    let wanted: u64 = wanted.trim().parse().ok()?;
    Some(match sign {
        '>' => number > wanted,
        '<' => number < wanted,
        _ => number == wanted,
    })
}

fn when(field: Field, relation: Relation, value: &str, task: &Task, now: &Zoned) -> Option<bool> {
    let at = match field {
        Field::Due => task.due.map(|due| due.at),
        Field::Start => task.start.map(|start| start.at),
        Field::Completed => task.completed,
        Field::Added => task.added,
        Field::Updated => task.modified,
    };
    if value.eq_ignore_ascii_case("never") {
        return (relation == Relation::On).then_some(at.is_none());
    }
    if relation == Relation::Within {
        let (date, span) = within_of(value, now)?;
        let days = span_around(field, date, span, now)?;
        return Some(at.is_some_and(|at| days.contain(at)));
    }
    let zone = now.time_zone();
    let Some(at) = at else { return Some(false) };
    if value.eq_ignore_ascii_case("now") && relation != Relation::On {
        return Some(ordered(relation, at, now.timestamp(), now.timestamp()));
    }
    let day = Days::new(day_of(value, now)?, zone)?;
    Some(match relation {
        Relation::On => day.contain(at),
        _ => ordered(relation, at, day.from, day.to),
    })
}

fn ordered(relation: Relation, at: Timestamp, from: Timestamp, to: Timestamp) -> bool {
    match relation {
        Relation::Before => at < from,
        _ => at >= to,
    }
}

/// Due and start dates extend forward only, other dates in both directions.
fn span_around(field: Field, date: Date, (count, unit): (i64, String), now: &Zoned) -> Option<Days> {
    let zone = now.time_zone();
    let ahead = shifted(date, count, &unit)?;
    match field {
        Field::Due | Field::Start => Days::between(date, ahead.tomorrow().ok()?, zone),
        Field::Completed | Field::Added | Field::Updated => {
            Days::between(shifted(date, -count, &unit)?, ahead.tomorrow().ok()?, zone)
        }
    }
}

pub(crate) fn day_of(value: &str, now: &Zoned) -> Option<Date> {
    day(value, now)
}

/// Parses `1 week of today`.
pub(crate) fn within_of(value: &str, now: &Zoned) -> Option<(Date, (i64, String))> {
    let value = value.to_ascii_lowercase();
    let (span, of) = value.split_once(" of ")?;
    let (count, unit) = span.trim().split_once(' ')?;
    let count = match count {
        "a" | "an" | "one" => 1,
        number => number.parse().ok()?,
    };
    let date = day(of, now)?;
    shifted(date, count, unit.trim())?;
    Some((date, (count, unit.trim().to_owned())))
}

#[cfg(test)]
mod tests {
    use super::{MatchContext, matches};
    use crate::account::cache::TaskCache;
    use crate::filter::parse;
    use crate::model::{List, TaskUpdates};
    use serde_json::json;

    fn check(filter: &str, expected: Option<bool>) {
        let mut cache = TaskCache::default();
        let list = json!({"id": "1", "name": "Home"});
        cache.put_list(List::read(&list).expect("a list"));
        cache.apply(TaskUpdates::read(&json!({"tasks": {"list": [{"id": "1", "taskseries": [{
            "id": "2", "name": "Buy milk", "tags": {"tag": ["shop"]}, "modified": "2026-11-10T10:00:00Z",
            "notes": {"note": [{"id": "9", "title": "", "$t": "the blue one"}]},
            "task": [{"id": "3", "due": "2026-11-15T23:00:00Z", "priority": "2", "added": "2026-11-01T10:00:00Z", "postponed": "4", "completed": ""}],
        }]}]}})));
        let now = "2026-11-15T12:00:00+01:00[Europe/Berlin]".parse().expect("a moment");
        let context = MatchContext { cache: &cache, now: &now };
        let task = cache.tasks().next().expect("a task");
        assert_eq!(matches(&parse(filter).expect("understood"), task, &context), expected, "{filter}");
    }

    #[test]
    fn filters_mean_here_what_they_mean_there() {
        for fits in [
            "",
            "milk",
            "name:MILK",
            "list:home",
            "tag:shop AND priority:2",
            "status:incomplete",
            "NOT tag:work",
            "tag:work OR tag:shop",
            "due:tomorrow",
            "dueBefore:2026-11-17",
            "dueAfter:today",
            "dueWithin:\"2 days of today\"",
            "addedWithin:\"3 weeks of today\"",
            "postponed:\"> 3\"",
            "hasNotes:true",
            "noteContains:blue",
            "isRepeating:false",
            "completed:never",
            "updatedAfter:2026-11-09",
            "tagContains:ho",
            "isSubtask:false",
            "NOT due:never",
        ] {
            check(fits, Some(true));
        }
        for fails in [
            "bread",
            "list:work",
            "tag:sho",
            "status:completed",
            "due:today",
            "dueBefore:tomorrow",
            "dueAfter:tomorrow",
            "completedWithin:\"7 days of today\"",
            "priority:none",
            "isTagged:false",
            "postponed:\"< 4\"",
            "startBefore:today",
            "location:home AND tag:none",
        ] {
            check(fails, Some(false));
        }
        for unsure in ["location:home", "tag:shop AND source:js", "due:whenever", "hasNotes:maybe"] {
            check(unsure, None);
        }
    }
}
