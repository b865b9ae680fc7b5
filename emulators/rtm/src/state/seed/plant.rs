//! Puts a seed into the account.

use jiff::Timestamp;

use super::{Seed, SeedList, SeedTask};
use crate::language::filter::Filter;
use crate::language::phrase;
use crate::language::phrase::DateContext;
use crate::language::recurrence;
use crate::state::State;
use crate::state::account::{Id, List, Location, Note, Person, Priority, Series, Task, TaskDate};

/// Adds what the seed says to the account. The error says what in it cannot be.
pub(crate) fn plant(seed: &Seed, state: &mut State) -> Result<(), String> {
    let now = state.clock.now();
    if jiff::tz::TimeZone::get(&seed.timezone).is_err() {
        return Err(format!("there is no time zone {}", seed.timezone));
    }
    let account = &mut state.account;
    account.user.username.clone_from(&seed.username);
    account.user.fullname.clone_from(&seed.fullname);
    account.zone_name.clone_from(&seed.timezone);
    account.day_first = seed.day_first;
    account.is_pro = seed.pro;
    for (place, person) in seed.people.iter().enumerate() {
        let id = 2 + u64::try_from(place).unwrap_or_default();
        let known = Person { id, username: person.username.clone(), fullname: person.fullname.clone() };
        if person.contact {
            account.contacts.insert(id, known.clone());
        }
        account.people.push(known);
    }
    for location in &seed.locations {
        let id = account.fresh();
        let location = Location {
            id,
            name: location.name.clone(),
            longitude: location.longitude,
            latitude: location.latitude,
            address: location.address.clone(),
        };
        account.locations.insert(id, location);
    }
    for list in &seed.lists {
        plant_list(list, state, now)?;
    }
    if let Some(name) = &seed.default_list {
        let list = state.account.list_named(name).ok_or_else(|| format!("there is no list {name}"))?.id;
        state.account.default_list = Some(list);
    }
    state.account.journal = Default::default();
    Ok(())
}

fn plant_list(seed: &SeedList, state: &mut State, now: Timestamp) -> Result<(), String> {
    let context = DateContext::new(&state.account, now);
    let account = &mut state.account;
    if let Some(filter) = &seed.filter {
        Filter::read(filter, &context)
            .ok_or_else(|| format!("the list {} has a filter that is none", seed.name))?;
    }
    let known = account.list_named(&seed.name).map(|list| list.id);
    let id = known.unwrap_or_else(|| {
        let list = List {
            filter: seed.filter.clone(),
            is_archived: seed.archived,
            ..List::named(account.fresh(), &seed.name)
        };
        let id = list.id;
        account.insert_list(list);
        id
    });
    for task in &seed.tasks {
        plant_task(task, state, id, None, now)?;
    }
    Ok(())
}

fn plant_task(
    seed: &SeedTask,
    state: &mut State,
    list: Id,
    parent: Option<Id>,
    now: Timestamp,
) -> Result<(), String> {
    let series = new_series(seed, state, list, parent, now)?;
    let task = series.tasks.first().map(|task| task.id);
    state.account.insert(series);
    for part in &seed.subtasks {
        plant_task(part, state, list, task, now)?;
    }
    Ok(())
}

fn new_series(
    seed: &SeedTask,
    state: &mut State,
    list: Id,
    parent: Option<Id>,
    now: Timestamp,
) -> Result<Series, String> {
    let context = DateContext::new(&state.account, now);
    let wrong = |what: &str| format!("the task {} has {what} that cannot be read", seed.name);
    let date = |text: &Option<String>, what: &str| -> Result<Option<TaskDate>, String> {
        text.as_deref().map(|text| phrase::when(text, &context).ok_or_else(|| wrong(what))).transpose()
    };
    let (due, start) = (date(&seed.due, "a due date")?, date(&seed.start, "a start date")?);
    let completed = date(&seed.completed, "a date of completion")?.map(|when| when.at);
    let repeat = seed.repeat.as_deref();
    let rule = repeat
        .map(|text| recurrence::read(text, &context).ok_or_else(|| wrong("a recurrence")))
        .transpose()?;
    let priority = match seed.priority {
        None => Priority::None,
        Some(number) => Priority::read(&number.to_string()).ok_or_else(|| wrong("a priority"))?,
    };
    let account = &mut state.account;
    let location = match &seed.location {
        None => None,
        Some(name) => Some(account.location_named(name).ok_or_else(|| wrong("a place"))?.id),
    };
    let contact =
        |name: &String| account.contacts.values().find(|one| one.username == *name).map(|one| one.id);
    let participants: Option<Vec<Id>> = seed.shared_with.iter().map(contact).collect();
    let participants = participants.ok_or_else(|| wrong("a contact"))?;
    let (id, task) = (account.fresh(), account.fresh());
    let notes = seed.notes.iter().map(|note| {
        let (title, text) = (note.title.clone(), note.text.clone());
        Note { id: account.fresh(), created: now, modified: now, title, text }
    });
    let notes = notes.collect();
    let task = Task {
        due,
        start,
        completed,
        priority,
        postponed: seed.postponed,
        estimate: seed.estimate.clone().unwrap_or_default(),
        ..Task::new(task, now)
    };
    Ok(Series {
        id,
        list,
        created: now,
        modified: now,
        name: seed.name.clone(),
        source: "api".to_owned(),
        url: seed.url.clone().unwrap_or_default(),
        location,
        parent,
        tags: seed.tags.iter().map(|tag| tag.to_lowercase()).collect(),
        participants,
        notes,
        rule,
        successor: None,
        external_id: String::new(),
        tasks: vec![task],
    })
}
