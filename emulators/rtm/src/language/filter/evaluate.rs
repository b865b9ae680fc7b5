//! Whether a task is as a condition wants it.

use super::operators::{Compare, FilterCondition, TaskDateField};
use crate::language::phrase;
use crate::language::phrase::DateContext;
use crate::state::account::{Account, Location, Series, Task, TaskDate, same};

impl FilterCondition {
    pub(super) fn holds(
        &self,
        account: &Account,
        series: &Series,
        task: &Task,
        context: &DateContext,
    ) -> bool {
        match self {
            FilterCondition::List(name) => {
                account.lists.get(&series.list).is_some_and(|list| same(&list.name, name))
            }
            FilterCondition::Priority(priority) => task.priority == *priority,
            FilterCondition::Completed(yes) => task.completed.is_some() == *yes,
            FilterCondition::Tag(tag) => series.tags.contains(tag),
            FilterCondition::TagContains(part) => series.tags.iter().any(|tag| tag.contains(part.as_str())),
            FilterCondition::Tagged(yes) => *yes != series.tags.is_empty(),
            FilterCondition::Location(name) => {
                location(account, series).is_some_and(|place| same(&place.name, name))
            }
            FilterCondition::LocationWithin { metres, of } => is_near(account, series, *metres, of),
            FilterCondition::Located(yes) => series.location.is_some() == *yes,
            FilterCondition::Repeating(yes) => series.rule.is_some() == *yes,
            FilterCondition::Name(part) => series.name.to_lowercase().contains(part.as_str()),
            FilterCondition::NoteContains(part) => series.notes.iter().any(|note| {
                note.title.to_lowercase().contains(part.as_str())
                    || note.text.to_lowercase().contains(part.as_str())
            }),
            FilterCondition::HasNotes(yes) => *yes != series.notes.is_empty(),
            FilterCondition::HasUrl(yes) => *yes != series.url.is_empty(),
            // There are no attachments here.
            FilterCondition::HasAttachments(yes) => !*yes,
            FilterCondition::Filename => false,
            FilterCondition::Date(field, test) => test.holds(date(*field, series, task), context),
            FilterCondition::Estimate(compare, wanted) => phrase::seconds(&task.estimate)
                .and_then(|seconds| seconds.partial_cmp(wanted))
                .is_some_and(|ordering| compare.agrees(ordering)),
            FilterCondition::HasEstimate(yes) => *yes != task.estimate.is_empty(),
            FilterCondition::Postponed(compare, wanted) => compare.agrees(task.postponed.cmp(wanted)),
            FilterCondition::Shared(yes) => *yes != series.participants.is_empty(),
            FilterCondition::SharedWith(name) => is_shared_with(account, series, name),
            // Other users send no tasks to this account.
            FilterCondition::Received(yes) => !*yes,
            FilterCondition::Subtask(yes) => series.parent.is_some() == *yes,
            FilterCondition::HasSubtasks(yes) => account.children(task.id).is_empty() != *yes,
            FilterCondition::Source(source) => same(&series.source, source),
            FilterCondition::IncludeArchived(_) => true,
        }
    }
}

impl Compare {
    fn agrees(self, ordering: std::cmp::Ordering) -> bool {
        match self {
            Compare::Less => ordering.is_lt(),
            Compare::Equal => ordering.is_eq(),
            Compare::More => ordering.is_gt(),
        }
    }
}

fn date(field: TaskDateField, series: &Series, task: &Task) -> Option<TaskDate> {
    let moment = |at| TaskDate { at, timed: true };
    match field {
        TaskDateField::Due => task.due,
        TaskDateField::Start => task.start,
        TaskDateField::Completed => task.completed.map(moment),
        TaskDateField::Added => Some(moment(task.added)),
        TaskDateField::Updated => Some(moment(series.modified)),
    }
}

fn location<'a>(account: &'a Account, series: &Series) -> Option<&'a Location> {
    account.locations.get(&series.location?)
}

fn is_near(account: &Account, series: &Series, metres: f64, of: &str) -> bool {
    match (location(account, series), account.location_named(of)) {
        (Some(here), Some(there)) => distance(here, there) <= metres,
        _ => false,
    }
}

/// Along the surface, in metres.
fn distance(from: &Location, to: &Location) -> f64 {
    const RADIUS: f64 = 6_371_000.0;
    let (latitude, other) = (from.latitude.to_radians(), to.latitude.to_radians());
    let half = |difference: f64| (difference / 2.0).sin().powi(2);
    let across = half((to.longitude - from.longitude).to_radians());
    let chord = half(other - latitude) + latitude.cos() * other.cos() * across;
    2.0 * RADIUS * chord.sqrt().asin()
}

fn is_shared_with(account: &Account, series: &Series, name: &str) -> bool {
    let people = series.participants.iter().filter_map(|id| account.contacts.get(id));
    people
        .into_iter()
        .any(|person| same(&person.username, name) || person.fullname.to_lowercase().contains(name))
}
