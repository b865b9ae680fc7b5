//! Shared by several methods: checked ids, and the elements of lists and tasks.

use jiff::Timestamp;

use super::MethodRequest;
use crate::api::api_error;
use crate::api::api_error::{ApiError, ApiResult};
use crate::api::response::{Element, Version};
use crate::language::phrase::DateContext;
use crate::state::account::{Account, Id, List, Note, Series, Task, TaskDate};

/// A task by its three ids, all of which were right.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskPath {
    pub(super) series: Id,
    pub(super) task: Id,
}

impl MethodRequest<'_> {
    pub(super) fn account(&mut self) -> &mut Account {
        &mut self.state.account
    }

    pub(super) fn context(&self) -> DateContext {
        DateContext::new(&self.state.account, self.now)
    }

    pub(super) fn id(&self, name: &str) -> Option<Id> {
        self.params.given(name)?.parse().ok()
    }

    /// The list of this parameter, which is there.
    pub(super) fn list(&self, name: &str) -> ApiResult<&List> {
        let list = self.id(name).and_then(|id| self.state.account.lists.get(&id));
        list.filter(|list| !list.is_deleted).ok_or(api_error::BAD_LIST)
    }

    /// The task of `list_id`, `taskseries_id` and `task_id`.
    pub(super) fn path(&self) -> ApiResult<TaskPath> {
        self.path_in("list_id")
    }

    pub(super) fn path_in(&self, list: &str) -> ApiResult<TaskPath> {
        let list = self.list(list)?.id;
        let series = self.id("taskseries_id").and_then(|id| self.state.account.series.get(&id));
        let series = series.filter(|series| series.list == list).ok_or(api_error::BAD_TASK)?;
        let task = self.id("task_id").and_then(|id| series.task(id));
        let task = task.filter(|task| task.deleted.is_none()).ok_or(api_error::BAD_TASK)?;
        Ok(TaskPath { series: series.id, task: task.id })
    }

    pub(super) fn series(&self, id: Id) -> ApiResult<&Series> {
        self.state.account.series.get(&id).ok_or(api_error::BAD_TASK)
    }

    pub(super) fn task(&self, path: TaskPath) -> ApiResult<&Task> {
        self.series(path.series)?.task(path.task).ok_or(api_error::BAD_TASK)
    }

    pub(super) fn change_series(
        &mut self,
        path: TaskPath,
        change: impl FnOnce(&mut Series),
    ) -> ApiResult<()> {
        let now = self.now;
        self.account().change(path.series, now, change).ok_or(api_error::BAD_TASK)
    }

    pub(super) fn change_task(&mut self, path: TaskPath, change: impl FnOnce(&mut Task)) -> ApiResult<()> {
        let now = self.now;
        self.account().change_task(path.series, path.task, now, change).ok_or(api_error::BAD_TASK)
    }

    /// The answer to a write: the series, with the one task.
    pub(super) fn changed(&self, path: TaskPath) -> ApiResult<Vec<Element>> {
        self.changed_with(path, |task| task.id == path.task)
    }

    pub(super) fn changed_with(
        &self,
        path: TaskPath,
        show: impl Fn(&Task) -> bool,
    ) -> ApiResult<Vec<Element>> {
        let series = self.series(path.series)?;
        let element = series_element(&self.state.account, series, self.version, show);
        Ok(vec![Element::new("list").with("id", series.list.to_string()).many("taskseries", vec![element])])
    }

    /// A parameter that must be there.
    pub(super) fn required(&self, name: &str, refusal: ApiError) -> ApiResult<&str> {
        self.params.given(name).map(str::trim).filter(|value| !value.is_empty()).ok_or(refusal)
    }
}

pub(super) fn time(at: Timestamp) -> String {
    at.to_string()
}

fn moment(at: Option<Timestamp>) -> String {
    at.map(time).unwrap_or_default()
}

pub(super) fn list_element(list: &List, version: Version) -> Element {
    let element = Element::new("list")
        .with("id", list.id.to_string())
        .with("name", list.name.clone())
        .flag("deleted", list.is_deleted)
        .flag("locked", list.is_locked)
        .flag("archived", list.is_archived)
        .with("position", list.position.to_string())
        .flag("smart", list.filter.is_some())
        .with("sort_order", "0");
    let element = if version == Version::Two { element.with("permission", "owner") } else { element };
    match &list.filter {
        Some(filter) => element.child(Element::text("filter", filter.clone())),
        None => element,
    }
}

/// A series with those of its tasks that are to be shown.
pub(super) fn series_element(
    account: &Account,
    series: &Series,
    version: Version,
    show: impl Fn(&Task) -> bool,
) -> Element {
    let id = |id: Option<Id>| id.map(|id| id.to_string()).unwrap_or_default();
    let mut element = Element::new("taskseries")
        .with("id", series.id.to_string())
        .with("created", time(series.created))
        .with("modified", time(series.modified))
        .with("name", series.name.clone())
        .with("source", series.source.clone())
        .with("url", series.url.clone())
        .with("location_id", id(series.location));
    if version == Version::Two {
        element = element.with("parent_task_id", id(series.parent));
    }
    if !series.external_id.is_empty() {
        element = element.with("external_id", series.external_id.clone());
    }
    if let Some(rule) = &series.rule {
        element = element.child(Element::text("rrule", rule.to_string()).flag("every", rule.every));
    }
    let tags = series.tags.iter().map(|tag| Element::text("tag", tag.clone())).collect();
    let people = series.participants.iter().filter_map(|id| account.contacts.get(id));
    let people = people.map(|person| {
        Element::new("contact")
            .with("id", person.id.to_string())
            .with("fullname", person.fullname.clone())
            .with("username", person.username.clone())
    });
    let notes = series.notes.iter().map(note_element).collect();
    let tasks =
        series.tasks.iter().filter(|task| show(task)).map(|task| task_element(task, version)).collect();
    element
        .child(Element::wrapper("tags", "tag", tags))
        .child(Element::wrapper("participants", "contact", people.collect()))
        .child(Element::wrapper("notes", "note", notes))
        .many("task", tasks)
}

fn task_element(task: &Task, version: Version) -> Element {
    let day = |when: Option<TaskDate>| moment(when.map(|when| when.at));
    let timed = |when: Option<TaskDate>| when.is_some_and(|when| when.timed);
    let element = Element::new("task")
        .with("id", task.id.to_string())
        .with("due", day(task.due))
        .flag("has_due_time", timed(task.due))
        .with("added", time(task.added))
        .with("completed", moment(task.completed))
        .with("deleted", moment(task.deleted))
        .with("priority", task.priority.letter())
        .with("postponed", task.postponed.to_string())
        .with("estimate", task.estimate.clone());
    match version {
        Version::One => element,
        Version::Two => element.with("start", day(task.start)).flag("has_start_time", timed(task.start)),
    }
}

pub(super) fn note_element(note: &Note) -> Element {
    Element::new("note")
        .with("id", note.id.to_string())
        .with("created", time(note.created))
        .with("modified", time(note.modified))
        .with("title", note.title.clone())
        .body(note.text.clone())
}
