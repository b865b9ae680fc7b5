//! The account: lists, tasks, people, places and settings.

mod list;
mod people;
mod series;
mod write;

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(crate) use list::List;
pub(crate) use people::{Contact, Group, Location, Person, Script, Subscription};
pub(crate) use series::{Note, Priority, Series, Task, TaskDate};

use super::undo::Journal;

/// The name of a thing: digits on the wire.
pub(crate) type Id = u64;

#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) user: Person,
    pub(crate) is_pro: bool,
    pub(crate) zone_name: String,
    pub(crate) day_first: bool,
    pub(crate) hours_24: bool,
    pub(crate) language: String,
    pub(crate) default_list: Option<Id>,
    pub(crate) inbox: Id,
    pub(crate) lists: BTreeMap<Id, List>,
    pub(crate) series: BTreeMap<Id, Series>,
    /// Tasks that went away other than by being deleted: moved, or taken back by an undo.
    pub(crate) gone: VecDeque<DeletedTask>,
    pub(crate) locations: BTreeMap<Id, Location>,
    /// The people with an account of the service.
    pub(crate) people: Vec<Person>,
    pub(crate) contacts: BTreeMap<Id, Contact>,
    pub(crate) groups: BTreeMap<Id, Group>,
    pub(crate) subscriptions: BTreeMap<Id, Subscription>,
    pub(crate) scripts: BTreeMap<Id, Script>,
    /// The changes of the running method so far.
    pub(crate) journal: Journal,
    next: Id,
}

/// A task that was deleted from a list, or moved to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeletedTask {
    pub(crate) list: Id,
    pub(crate) series: Id,
    pub(crate) task: Id,
    pub(crate) at: Timestamp,
}

/// Where the names of things begin.
const FIRST: Id = 10_000_001;

impl Account {
    /// An account with an Inbox and Sent and nothing else.
    pub(crate) fn empty() -> Account {
        let user = Person { id: 1, username: "dana".to_owned(), fullname: "Dana Demo".to_owned() };
        let mut account = Account {
            user,
            is_pro: true,
            zone_name: "Europe/Berlin".to_owned(),
            day_first: true,
            hours_24: true,
            language: "en-US".to_owned(),
            default_list: None,
            inbox: FIRST,
            lists: BTreeMap::new(),
            series: BTreeMap::new(),
            gone: VecDeque::new(),
            locations: BTreeMap::new(),
            people: vec![],
            contacts: BTreeMap::new(),
            groups: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            scripts: BTreeMap::new(),
            journal: Journal::default(),
            next: FIRST,
        };
        let inbox = List { position: -1, is_locked: true, ..List::named(account.fresh(), "Inbox") };
        let sent = List { position: 1, is_locked: true, ..List::named(account.fresh(), "Sent") };
        account.inbox = inbox.id;
        account.lists.extend([(inbox.id, inbox), (sent.id, sent)]);
        account
    }

    pub(crate) fn fresh(&mut self) -> Id {
        let id = self.next;
        self.next += 1;
        id
    }

    pub(crate) fn zone(&self) -> TimeZone {
        TimeZone::get(&self.zone_name).unwrap_or(TimeZone::UTC)
    }

    /// Finds a list by name, ignoring case; open lists before archived ones.
    pub(crate) fn list_named(&self, name: &str) -> Option<&List> {
        let mut found: Vec<&List> =
            self.lists.values().filter(|list| !list.is_deleted && same(&list.name, name)).collect();
        found.sort_by_key(|list| (list.is_archived, list.id));
        found.first().copied()
    }

    pub(crate) fn location_named(&self, name: &str) -> Option<&Location> {
        self.locations.values().find(|location| same(&location.name, name))
    }

    /// The series a task belongs to, and the task, unless it is deleted.
    pub(crate) fn task(&self, id: Id) -> Option<(&Series, &Task)> {
        let mut found = self.series.values().filter_map(|series| Some((series, series.task(id)?)));
        found.find(|(_, task)| task.deleted.is_none())
    }

    /// The series whose parent is one of these tasks, and that are not deleted.
    pub(crate) fn children(&self, parent: Id) -> Vec<Id> {
        let is_child = |series: &&Series| series.parent == Some(parent) && series.is_alive();
        self.series.values().filter(is_child).map(|series| series.id).collect()
    }

    /// How many levels lie above a task.
    pub(crate) fn depth(&self, task: Id) -> usize {
        let mut depth = 0;
        let mut above = self.task(task).and_then(|(series, _)| series.parent);
        // A cycle cannot be made, but a walk that never ends must not be possible either.
        while let (Some(parent), true) = (above, depth < 10) {
            depth += 1;
            above = self.task(parent).and_then(|(series, _)| series.parent);
        }
        depth
    }

    /// How many levels lie below a task.
    pub(crate) fn height(&self, task: Id) -> usize {
        self.height_within(task, 10)
    }

    fn height_within(&self, task: Id, levels: usize) -> usize {
        if levels == 0 {
            return 0;
        }
        let children = self.children(task).into_iter().filter_map(|id| self.series.get(&id));
        let below = children.flat_map(|series| series.tasks.iter().map(|task| task.id));
        below.map(|child| 1 + self.height_within(child, levels - 1)).max().unwrap_or(0)
    }
}

/// Whether two names are the same but for their case.
pub(crate) fn same(left: &str, right: &str) -> bool {
    left.trim().to_lowercase() == right.trim().to_lowercase()
}
