//! The operators, by name.

use super::dates::{DateTest, Relation};
use crate::account::Priority;
use crate::phrase::{self, Context};

/// One condition.
#[derive(Debug)]
pub(crate) enum Test {
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
    Date(Field, DateTest),
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
pub(crate) enum Field {
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
pub(super) fn read(name: &str, value: &str, context: &Context) -> Option<Test> {
    let lower = value.trim().to_lowercase();
    if let Some(test) = date(name, &lower, context) {
        return Some(test);
    }
    Some(match name {
        "list" => Test::List(lower),
        "priority" => Test::Priority(Priority::read(&lower)?),
        "status" => Test::Completed(match lower.as_str() {
            "completed" => true,
            "incomplete" => false,
            _ => return None,
        }),
        "tag" => Test::Tag(lower),
        "tagcontains" => Test::TagContains(lower),
        "istagged" => Test::Tagged(truth(&lower)?),
        "location" => Test::Location(lower),
        "locationwithin" => within_distance(&lower)?,
        "islocated" => Test::Located(truth(&lower)?),
        "isrepeating" => Test::Repeating(truth(&lower)?),
        "name" => Test::Name(lower),
        "notecontains" | "note" => Test::NoteContains(lower),
        "hasnotes" => Test::HasNotes(truth(&lower)?),
        "hasurl" => Test::HasUrl(truth(&lower)?),
        "hasattachments" => Test::HasAttachments(truth(&lower)?),
        "filename" => Test::Filename,
        "timeestimate" => {
            let (compare, rest) = comparison(&lower);
            Test::Estimate(compare, phrase::seconds(rest)?)
        }
        "hastimeestimate" => Test::HasEstimate(truth(&lower)?),
        "postponed" => {
            let (compare, rest) = comparison(&lower);
            Test::Postponed(compare, rest.parse().ok()?)
        }
        "isshared" => Test::Shared(truth(&lower)?),
        "sharedwith" | "givento" | "with" | "to" => Test::SharedWith(lower),
        "isreceived" => Test::Received(truth(&lower)?),
        "issubtask" => Test::Subtask(truth(&lower)?),
        "hassubtasks" => Test::HasSubtasks(truth(&lower)?),
        "source" => Test::Source(lower),
        "includearchived" => Test::IncludeArchived(truth(&lower)?),
        _ => return None,
    })
}

/// `due`, `dueBefore`, `startAfter`, `completedWithin` and so on.
fn date(name: &str, value: &str, context: &Context) -> Option<Test> {
    const FIELDS: &[(&str, Field)] = &[
        ("due", Field::Due),
        ("start", Field::Start),
        ("completed", Field::Completed),
        ("added", Field::Added),
        ("updated", Field::Updated),
    ];
    let (rest, field) = FIELDS.iter().find_map(|(word, field)| Some((name.strip_prefix(word)?, *field)))?;
    let relation = match rest {
        "" => Relation::On,
        "before" => Relation::Before,
        "after" => Relation::After,
        "within" => Relation::Within,
        _ => return None,
    };
    Some(Test::Date(field, DateTest::read(field, relation, value, context)))
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
fn within_distance(value: &str) -> Option<Test> {
    let (length, of) = value.split_once(" of ")?;
    let (count, unit) = length.trim().split_once(' ')?;
    let metres = match unit.trim() {
        "m" | "metre" | "metres" | "meter" | "meters" => 1.0,
        "km" | "kms" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => 1_000.0,
        "mi" | "mile" | "miles" => 1_609.344,
        "foot" | "feet" | "ft" => 0.3048,
        _ => return None,
    };
    Some(Test::LocationWithin { metres: count.parse::<f64>().ok()? * metres, of: of.trim().to_owned() })
}
