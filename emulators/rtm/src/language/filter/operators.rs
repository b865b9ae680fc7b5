//! The operators, by name.

use super::dates::{DateTest, Relation};
use crate::language::phrase;
use crate::language::phrase::DateContext;
use crate::state::account::Priority;

#[derive(Debug)]
pub(crate) enum FilterCondition {
    List(String),
    Priority(Priority),
    Completed(bool),
    Tag(String),
    TagContains(String),
    Tagged(bool),
    Location(String),
    LocationWithin { metres: f64, of: String },
    Located(bool),
    Repeating(bool),
    Name(String),
    NoteContains(String),
    HasNotes(bool),
    HasUrl(bool),
    HasAttachments(bool),
    Filename,
    Date(TaskDateField, DateTest),
    Estimate(Compare, f64),
    HasEstimate(bool),
    Postponed(Compare, u32),
    Shared(bool),
    SharedWith(String),
    Received(bool),
    Subtask(bool),
    HasSubtasks(bool),
    Source(String),
    IncludeArchived(bool),
}

/// Which of a task's dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskDateField {
    Due,
    Start,
    Completed,
    Added,
    Updated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compare {
    Less,
    Equal,
    More,
}

/// The condition of an operator and its value; none when there is no such operator or its value makes no sense.
pub(super) fn read(name: &str, value: &str, context: &DateContext) -> Option<FilterCondition> {
    let lower = value.trim().to_lowercase();
    if let Some(test) = date(name, &lower, context) {
        return Some(test);
    }
    Some(match name {
        "list" => FilterCondition::List(lower),
        "priority" => FilterCondition::Priority(Priority::read(&lower)?),
        "status" => FilterCondition::Completed(match lower.as_str() {
            "completed" => true,
            "incomplete" => false,
            _ => return None,
        }),
        "tag" => FilterCondition::Tag(lower),
        "tagcontains" => FilterCondition::TagContains(lower),
        "istagged" => FilterCondition::Tagged(truth(&lower)?),
        "location" => FilterCondition::Location(lower),
        "locationwithin" => within_distance(&lower)?,
        "islocated" => FilterCondition::Located(truth(&lower)?),
        "isrepeating" => FilterCondition::Repeating(truth(&lower)?),
        "name" => FilterCondition::Name(lower),
        "notecontains" | "note" => FilterCondition::NoteContains(lower),
        "hasnotes" => FilterCondition::HasNotes(truth(&lower)?),
        "hasurl" => FilterCondition::HasUrl(truth(&lower)?),
        "hasattachments" => FilterCondition::HasAttachments(truth(&lower)?),
        "filename" => FilterCondition::Filename,
        "timeestimate" => {
            let (compare, rest) = comparison(&lower);
            FilterCondition::Estimate(compare, phrase::seconds(rest)?)
        }
        "hastimeestimate" => FilterCondition::HasEstimate(truth(&lower)?),
        "postponed" => {
            let (compare, rest) = comparison(&lower);
            FilterCondition::Postponed(compare, rest.parse().ok()?)
        }
        "isshared" => FilterCondition::Shared(truth(&lower)?),
        "sharedwith" | "givento" | "with" | "to" => FilterCondition::SharedWith(lower),
        "isreceived" => FilterCondition::Received(truth(&lower)?),
        "issubtask" => FilterCondition::Subtask(truth(&lower)?),
        "hassubtasks" => FilterCondition::HasSubtasks(truth(&lower)?),
        "source" => FilterCondition::Source(lower),
        "includearchived" => FilterCondition::IncludeArchived(truth(&lower)?),
        _ => return None,
    })
}

/// `due`, `dueBefore`, `startAfter`, `completedWithin` and so on.
fn date(name: &str, value: &str, context: &DateContext) -> Option<FilterCondition> {
    const FIELDS: &[(&str, TaskDateField)] = &[
        ("due", TaskDateField::Due),
        ("start", TaskDateField::Start),
        ("completed", TaskDateField::Completed),
        ("added", TaskDateField::Added),
        ("updated", TaskDateField::Updated),
    ];
    let (rest, field) = FIELDS.iter().find_map(|(word, field)| Some((name.strip_prefix(word)?, *field)))?;
    let relation = match rest {
        "" => Relation::On,
        "before" => Relation::Before,
        "after" => Relation::After,
        "within" => Relation::Within,
        _ => return None,
    };
    Some(FilterCondition::Date(field, DateTest::read(field, relation, value, context)))
}

fn truth(value: &str) -> Option<bool> {
    match value {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// `> 1 hour`, `<3`, `2`.
fn comparison(value: &str) -> (Compare, &str) {
    let value = value.trim();
    match (value.strip_prefix('>'), value.strip_prefix('<')) {
        (Some(rest), _) => (Compare::More, rest.trim()),
        (None, Some(rest)) => (Compare::Less, rest.trim()),
        (None, None) => (Compare::Equal, value.trim_start_matches('=').trim()),
    }
}

/// `2 miles of home`.
fn within_distance(value: &str) -> Option<FilterCondition> {
    let (length, of) = value.split_once(" of ")?;
    let (count, unit) = length.trim().split_once(' ')?;
    let metres = match unit.trim() {
        "m" | "metre" | "metres" | "meter" | "meters" => 1.0,
        "km" | "kms" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => 1_000.0,
        "mi" | "mile" | "miles" => 1_609.344,
        "foot" | "feet" | "ft" => 0.3048,
        _ => return None,
    };
    Some(FilterCondition::LocationWithin {
        metres: count.parse::<f64>().ok()? * metres,
        of: of.trim().to_owned(),
    })
}
