//! Whether a task is as a condition wants it.

use super::operators::{Compare, Field, Test};
use crate::account::{Account, Location, Series, Task, When, same};
use crate::phrase::{self, Context};

impl Test {
    pub(super) fn holds(&self, account: &Account, series: &Series, task: &Task, context: &Context) -> bool {
        match self {
            Test::List(name) => account.lists.get(&series.list).is_some_and(|list| same(&list.name, name)),
            Test::Priority(priority) => task.priority == *priority,
            Test::Completed(yes) => task.completed.is_some() == *yes,
            Test::Tag(tag) => series.tags.contains(tag),
            Test::TagContains(part) => series.tags.iter().any(|tag| tag.contains(part.as_str())),
            Test::Tagged(yes) => *yes != series.tags.is_empty(),
            Test::Location(name) => location(account, series).is_some_and(|place| same(&place.name, name)),
            Test::LocationWithin { metres, of } => is_near(account, series, *metres, of),
            Test::Located(yes) => series.location.is_some() == *yes,
            Test::Repeating(yes) => series.rule.is_some() == *yes,
            Test::Name(part) => series.name.to_lowercase().contains(part.as_str()),
            Test::NoteContains(part) => series.notes.iter().any(|note| {
                note.title.to_lowercase().contains(part.as_str())
                    || note.text.to_lowercase().contains(part.as_str())
            }),
            Test::HasNotes(yes) => *yes != series.notes.is_empty(),
            Test::HasUrl(yes) => *yes != series.url.is_empty(),
            // There are no attachments here.
            Test::HasAttachments(yes) => !*yes,
            Test::Filename => false,
            Test::Date(field, test) => test.holds(date(*field, series, task), context),
            Test::Estimate(compare, wanted) => phrase::seconds(&task.estimate)
                .and_then(|seconds| seconds.partial_cmp(wanted))
                .is_some_and(|ordering| compare.agrees(ordering)),
            Test::HasEstimate(yes) => *yes != task.estimate.is_empty(),
            Test::Postponed(compare, wanted) => compare.agrees(task.postponed.cmp(wanted)),
            Test::Shared(yes) => *yes != series.participants.is_empty(),
            Test::SharedWith(name) => is_shared_with(account, series, name),
            // Nobody sends tasks to this account.
            Test::Received(yes) => !*yes,
            Test::Subtask(yes) => series.parent.is_some() == *yes,
            Test::HasSubtasks(yes) => account.children(task.id).is_empty() != *yes,
            Test::Source(source) => same(&series.source, source),
            Test::IncludeArchived(_) => true,
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

fn date(field: Field, series: &Series, task: &Task) -> Option<When> {
    let moment = |at| When { at, timed: true };
    match field {
        Field::Due => task.due,
        Field::Start => task.start,
        Field::Completed => task.completed.map(moment),
        Field::Added => Some(moment(task.added)),
        Field::Updated => Some(moment(series.modified)),
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
