//! The changes that tools make, each with a proof that it was made.

use std::collections::HashSet;
use std::sync::Arc;

use failwell_fault::{Effect, Fault, OrFault};
use serde_json::Value;

use crate::account::change::{Change, ChangeResult};
use crate::account::journal::UndoStep;
use crate::account::unconfirmed::{ConfirmedChange, Proof};
use crate::account::{Account, Freshness, Invalidation};
use crate::dates::{iso, read as read_date};
use crate::model::{Moment, Priority, Task, TaskKey};
use crate::reason;
use crate::service::error::with_effect;
use crate::service::json::{first, items, some, text, words};
use crate::service::signature::Params;
use crate::tool_failure::{ToolFailure, echo, invalid};

/// The ids that address a task.
fn ids(task: &Task) -> Params {
    vec![
        ("list_id", task.list.clone()),
        ("taskseries_id", task.key.series.clone()),
        ("task_id", task.key.task.clone()),
    ]
}

fn of_task(method: &'static str, task: &Task, more: Params) -> Change {
    let mut params = ids(task);
    params.extend(more);
    Change { task: task.name.clone(), ..Change::new(method, params) }
}

/// The change of one task that takes another one back.
fn opposite(method: &'static str, task: &Task, more: Params) -> UndoStep {
    let mut params = ids(task);
    params.extend(more);
    UndoStep::Opposite { method, params }
}

fn moment_params((name, has_time): (&'static str, &'static str), moment: Option<Moment>) -> Params {
    let Some(moment) = moment else { return Vec::new() };
    vec![(name, iso(moment.at)), (has_time, if moment.has_time { "1" } else { "0" }.to_owned())]
}

/// A proof: the change was made if the current task satisfies a condition.
fn when(task: &Task, holds: impl Fn(&Task) -> bool + Send + Sync + 'static) -> Proof {
    let key = task.key.clone();
    Proof::tasks(move |cache| {
        let fits = cache.task(&key).is_some_and(&holds);
        fits.then(|| ConfirmedChange { task: Some(key.clone()), ..ConfirmedChange::default() })
    })
}

/// The changes of one call, with their undo steps.
pub(crate) struct Edits<'a> {
    account: &'a Arc<Account>,
    pub(crate) steps: Vec<UndoStep>,
    /// Whether the response to one of them was lost.
    pub(crate) read_back: bool,
}

impl<'a> Edits<'a> {
    pub(crate) fn new(account: &'a Arc<Account>) -> Edits<'a> {
        Edits { account, steps: Vec::new(), read_back: false }
    }

    /// Makes a change that only the service itself can undo.
    async fn make(&mut self, change: Change) -> Result<ChangeResult, ToolFailure> {
        self.make_or(change, |_| None).await
    }

    /// Makes a change that the service can undo, or else the opposite change.
    async fn make_with(&mut self, change: Change, opposite: UndoStep) -> Result<ChangeResult, ToolFailure> {
        self.make_or(change, |_| Some(opposite)).await
    }

    async fn make_or(
        &mut self,
        change: Change,
        otherwise: impl FnOnce(&ChangeResult) -> Option<UndoStep>,
    ) -> Result<ChangeResult, ToolFailure> {
        match self.account.make(change).await {
            Ok(made) => {
                self.read_back |= made.confirmed.is_some();
                let step = made.step(|| otherwise(&made));
                // A change that was found may be in the journal already, from a call whose caller was gone.
                if made.confirmed.is_none() || !self.account.journal.has(&step) {
                    self.steps.push(step);
                }
                Ok(made)
            }
            Err(fault) => Err(ToolFailure::Fault(self.so_far(fault))),
        }
    }

    /// Marks the fault of a later change as partial if earlier changes were made.
    pub(crate) fn so_far(&self, fault: Fault) -> Fault {
        match (self.steps.is_empty(), fault.effect()) {
            (false, Effect::None) => with_effect(fault, Effect::Partial),
            _ => fault,
        }
    }

    pub(crate) async fn add(&mut self, new: NewTask) -> Result<TaskKey, ToolFailure> {
        if new.name.trim().is_empty() {
            return Err(Fault::new(&reason::TASKS_INVALID_TASK_NAME).into());
        }
        // The new task is the one that is not among these.
        self.account.sync(Freshness::Anything).await?;
        let before: HashSet<TaskKey> = self.account.cache().tasks().map(|task| task.key.clone()).collect();
        let mark = fresh_mark()?;
        let mut params: Params = vec![("name", new.name.clone())];
        if new.smart {
            params.push(("parse", "1".to_owned()));
        }
        if let Some(list) = &new.list {
            params.push(("list_id", list.clone()));
        }
        if let Some(parent) = &new.parent {
            params.push(("parent_task_id", parent.clone()));
        }
        let proof = added(mark.clone(), new.name.clone(), before);
        let change = Change { list: new.list_name, mark, ..Change::new("rtm.tasks.add", params) };
        let account = self.account;
        let made = self
            .make_or(change.proven_by(proof), |made| {
                let key = made.confirmed.as_ref().and_then(|it| it.task.clone());
                let (list, key) = match key {
                    Some(key) => (account.cache().task(&key)?.list.clone(), key),
                    None => made.task()?,
                };
                Some(UndoStep::DeleteTask { list, key })
            })
            .await?;
        let found = made.confirmed.as_ref().and_then(|it| it.task.clone());
        let key = found.or_else(|| made.task().map(|(_, key)| key));
        Ok(key.ok_or_else(|| {
            let fault = Fault::new(&reason::TASKS_BAD_ANSWER).fact("why", "no task in it").fact("done", "");
            with_effect(fault, Effect::Complete)
        })?)
    }

    pub(crate) async fn complete(&mut self, task: &Task) -> Result<(), ToolFailure> {
        let proof = when(task, |now| now.completed.is_some());
        let change = of_task("rtm.tasks.complete", task, Vec::new()).proven_by(proof);
        // A repetition goes on with a new task, which reopening the old one would not take back.
        let opposite = task.repeat.is_none().then(|| opposite("rtm.tasks.uncomplete", task, Vec::new()));
        self.make_or(change, |_| opposite).await?;
        // The next update reports the next task of a repetition and changed subtasks.
        self.account.invalidate(Invalidation::Changes).await;
        Ok(())
    }

    pub(crate) async fn reopen(&mut self, task: &Task) -> Result<(), ToolFailure> {
        let proof = when(task, |now| now.completed.is_none());
        let change = of_task("rtm.tasks.uncomplete", task, Vec::new()).proven_by(proof);
        self.make_with(change, opposite("rtm.tasks.complete", task, Vec::new())).await?;
        self.account.invalidate(Invalidation::Changes).await;
        Ok(())
    }

    pub(crate) async fn delete(&mut self, task: &Task) -> Result<(), ToolFailure> {
        let made = self.make(deletion(task.list.clone(), task.key.clone(), &task.name)).await;
        if made.is_ok() {
            self.account.update_cache(|cache| cache.forget(&task.key));
            self.account.invalidate(Invalidation::Changes).await;
        }
        made.map(|_| ())
    }

    pub(crate) async fn postpone(&mut self, task: &Task) -> Result<(), ToolFailure> {
        let before = task.postponed;
        let proof = when(task, move |now| now.postponed > before);
        let change = of_task("rtm.tasks.postpone", task, Vec::new()).proven_by(proof);
        let due = moment_params(("due", "has_due_time"), task.due);
        self.make_with(change, opposite("rtm.tasks.setDueDate", task, due)).await?;
        Ok(())
    }

    pub(crate) async fn move_to(&mut self, task: &Task, list: &str, name: &str) -> Result<(), ToolFailure> {
        if task.list == list {
            return Ok(());
        }
        let params: Params = vec![
            ("from_list_id", task.list.clone()),
            ("to_list_id", list.to_owned()),
            ("taskseries_id", task.key.series.clone()),
            ("task_id", task.key.task.clone()),
        ];
        let there = list.to_owned();
        let proof = when(task, move |now| now.list == there);
        let change = Change {
            task: task.name.clone(),
            list: name.to_owned(),
            ..Change::new("rtm.tasks.moveTo", params)
        };
        let back: Params = vec![
            ("from_list_id", list.to_owned()),
            ("to_list_id", task.list.clone()),
            ("taskseries_id", task.key.series.clone()),
            ("task_id", task.key.task.clone()),
        ];
        let opposite = UndoStep::Opposite { method: "rtm.tasks.moveTo", params: back };
        self.make_with(change.proven_by(proof), opposite).await?;
        self.account.invalidate(Invalidation::Changes).await;
        Ok(())
    }

    pub(crate) async fn put_below(&mut self, task: &Task, parent: Option<&Task>) -> Result<(), ToolFailure> {
        let parent = parent.map_or(String::new(), |parent| parent.key.task.clone());
        let there = parent.clone();
        let proof = when(task, move |now| now.parent == there);
        let change = of_task("rtm.tasks.setParentTask", task, vec![("parent_task_id", parent)]);
        let back = vec![("parent_task_id", task.parent.clone())];
        self.make_with(change.proven_by(proof), opposite("rtm.tasks.setParentTask", task, back)).await?;
        self.account.invalidate(Invalidation::Changes).await;
        Ok(())
    }

    pub(crate) async fn rename(&mut self, task: &Task, name: &str) -> Result<(), ToolFailure> {
        let wanted = name.trim().to_owned();
        let proof = when(task, move |now| now.name == wanted);
        let change = of_task("rtm.tasks.setName", task, vec![("name", name.to_owned())]);
        let back = vec![("name", task.name.clone())];
        self.make_with(change.proven_by(proof), opposite("rtm.tasks.setName", task, back)).await?;
        Ok(())
    }

    pub(crate) async fn prioritise(&mut self, task: &Task, priority: Priority) -> Result<(), ToolFailure> {
        let proof = when(task, move |now| now.priority == priority);
        let params = |priority: Priority| {
            let spelled = if priority == Priority::None { "N" } else { priority.as_str() };
            vec![("priority", spelled.to_owned())]
        };
        let change = of_task("rtm.tasks.setPriority", task, params(priority));
        let back = params(task.priority);
        self.make_with(change.proven_by(proof), opposite("rtm.tasks.setPriority", task, back)).await?;
        Ok(())
    }

    pub(crate) async fn estimate(&mut self, task: &Task, estimate: &str) -> Result<(), ToolFailure> {
        let (before, wanted) = (task.estimate.clone(), estimate.to_owned());
        let proof = when(task, move |now| now.estimate == wanted || now.estimate != before);
        let change = of_task("rtm.tasks.setEstimate", task, vec![("estimate", estimate.to_owned())]);
        let back = vec![("estimate", task.estimate.clone())];
        self.make_with(change.proven_by(proof), opposite("rtm.tasks.setEstimate", task, back)).await?;
        Ok(())
    }

    pub(crate) async fn link(&mut self, task: &Task, url: &str) -> Result<(), ToolFailure> {
        let wanted = url.to_owned();
        let proof = when(task, move |now| now.url == wanted);
        let change = of_task("rtm.tasks.setURL", task, vec![("url", url.to_owned())]);
        let back = vec![("url", task.url.clone())];
        self.make_with(change.proven_by(proof), opposite("rtm.tasks.setURL", task, back)).await?;
        Ok(())
    }

    pub(crate) async fn repeat(&mut self, task: &Task, repeat: &str) -> Result<(), ToolFailure> {
        let (before, gone) = (task.repeat.clone(), repeat.is_empty());
        let proof = when(task, move |now| if gone { now.repeat.is_none() } else { now.repeat != before });
        let change = of_task("rtm.tasks.setRecurrence", task, vec![("repeat", repeat.to_owned())]);
        self.make(change.proven_by(proof)).await?;
        Ok(())
    }

    pub(crate) async fn locate(&mut self, task: &Task, wanted: &str) -> Result<(), ToolFailure> {
        let location = if wanted.is_empty() { String::new() } else { self.location(wanted).await? };
        let there = location.clone();
        let proof = when(task, move |now| now.location == there);
        let change = of_task("rtm.tasks.setLocation", task, vec![("location_id", location)]);
        let back = vec![("location_id", task.location.clone())];
        self.make_with(change.proven_by(proof), opposite("rtm.tasks.setLocation", task, back)).await?;
        Ok(())
    }

    /// Finds a location by name or id.
    async fn location(&self, wanted: &str) -> Result<String, ToolFailure> {
        let answer = self.account.client.read("rtm.locations.getList", Vec::new()).await?;
        let all: Vec<&Value> =
            items(&answer, "locations").into_iter().flat_map(|place| items(place, "location")).collect();
        let fits = |place: &&&Value| {
            text(place, "id") == wanted || text(place, "name").to_lowercase() == wanted.to_lowercase()
        };
        let found = all.iter().find(fits).map(|place| text(place, "id"));
        found.ok_or_else(|| {
            invalid(
                "location",
                "there is no such location",
                "use the name of a location of the account, or nothing",
            )
        })
    }

    pub(crate) async fn set_due(&mut self, task: &Task, due: Option<Moment>) -> Result<(), ToolFailure> {
        self.set_moment("rtm.tasks.setDueDate", ("due", "has_due_time"), task, due, |now| now.due).await
    }

    pub(crate) async fn set_start(&mut self, task: &Task, start: Option<Moment>) -> Result<(), ToolFailure> {
        self.set_moment("rtm.tasks.setStartDate", ("start", "has_start_time"), task, start, |now| now.start)
            .await
    }

    async fn set_moment(
        &mut self,
        method: &'static str,
        names: (&'static str, &'static str),
        task: &Task,
        moment: Option<Moment>,
        of: fn(&Task) -> Option<Moment>,
    ) -> Result<(), ToolFailure> {
        let proof = when(task, move |now| of(now).map(|it| it.at) == moment.map(|it| it.at));
        let change = of_task(method, task, moment_params(names, moment)).proven_by(proof);
        self.make_with(change, opposite(method, task, moment_params(names, of(task)))).await?;
        Ok(())
    }

    pub(crate) async fn tag(
        &mut self,
        task: &Task,
        how: TagOperation,
        tags: &[String],
    ) -> Result<(), ToolFailure> {
        let tags = checked_tags(tags)?;
        let method = match how {
            TagOperation::Add => "rtm.tasks.addTags",
            TagOperation::Remove => "rtm.tasks.removeTags",
            TagOperation::Set => "rtm.tasks.setTags",
        };
        let given = tags.clone();
        let proof = when(task, move |now| {
            let has = |tag: &String| now.tags.iter().any(|known| known.to_lowercase() == tag.to_lowercase());
            match how {
                TagOperation::Add => given.iter().all(has),
                TagOperation::Remove => !given.iter().any(has),
                TagOperation::Set => given.iter().all(has) && now.tags.len() == given.len(),
            }
        });
        let change = of_task(method, task, vec![("tags", tags.join(","))]);
        let back = vec![("tags", task.tags.join(","))];
        self.make_with(change.proven_by(proof), opposite("rtm.tasks.setTags", task, back)).await?;
        Ok(())
    }

    pub(crate) async fn add_note(&mut self, task: &Task, title: &str, body: &str) -> Result<(), ToolFailure> {
        let before: HashSet<String> = task.notes.iter().map(|note| note.id.clone()).collect();
        let (key, wanted) = (task.key.clone(), body.to_owned());
        let proof = Proof::tasks(move |cache| {
            let new = cache
                .task(&key)?
                .notes
                .iter()
                .find(|note| !before.contains(&note.id) && note.text.trim() == wanted.trim())?;
            Some(ConfirmedChange { task: Some(key.clone()), note: Some(new.id.clone()), list: None })
        });
        let more = vec![("note_title", title.to_owned()), ("note_text", body.to_owned())];
        let change = of_task("rtm.tasks.notes.add", task, more).proven_by(proof);
        self.make_or(change, |made| {
            let found = made.confirmed.as_ref().and_then(|it| it.note.clone());
            let id = found.or_else(|| some(items(&made.answer, "note").first()?, "id"));
            id.map(UndoStep::DeleteNote)
        })
        .await?;
        self.after_note().await
    }

    pub(crate) async fn edit_note(
        &mut self,
        task: &Task,
        note: &str,
        title: &str,
        body: &str,
    ) -> Result<(), ToolFailure> {
        let (id, wanted) = (note.to_owned(), body.to_owned());
        let proof =
            when(task, move |now| now.notes.iter().any(|it| it.id == id && it.text.trim() == wanted.trim()));
        let params = vec![
            ("note_id", note.to_owned()),
            ("note_title", title.to_owned()),
            ("note_text", body.to_owned()),
        ];
        let opposite = task.notes.iter().find(|it| it.id == note).map(|before| UndoStep::Opposite {
            method: "rtm.tasks.notes.edit",
            params: vec![
                ("note_id", note.to_owned()),
                ("note_title", before.title.clone()),
                ("note_text", before.text.clone()),
            ],
        });
        self.make_or(Change::new("rtm.tasks.notes.edit", params).proven_by(proof), |_| opposite).await?;
        self.after_note().await
    }

    pub(crate) async fn delete_note(&mut self, note: &str) -> Result<(), ToolFailure> {
        self.make(note_deletion(note)).await?;
        self.after_note().await
    }

    /// The response has the note only. The next update reports the task.
    async fn after_note(&self) -> Result<(), ToolFailure> {
        self.account.sync(Freshness::Now).await.map_err(|fault| self.so_far(fault))?;
        Ok(())
    }

    pub(crate) async fn add_list(&mut self, name: &str, filter: Option<&str>) -> Result<String, ToolFailure> {
        self.account.sync(Freshness::Anything).await?;
        let before: HashSet<String> =
            self.account.cache().lists().iter().map(|list| list.id.clone()).collect();
        let mut params: Params = vec![("name", name.to_owned())];
        if let Some(filter) = filter {
            params.push(("filter", filter.to_owned()));
        }
        let wanted = name.trim().to_owned();
        let proof = Proof::lists(move |cache| {
            let lists = cache.lists();
            let new = lists.iter().find(|list| !before.contains(&list.id) && list.name == wanted)?;
            Some(ConfirmedChange { list: Some(new.id.clone()), ..ConfirmedChange::default() })
        });
        let made = self
            .make_or(Change::new("rtm.lists.add", params).proven_by(proof), |made| {
                list_of(made).map(UndoStep::DeleteList)
            })
            .await?;
        self.note_list(&made);
        let id = list_of(&made);
        Ok(id.ok_or_else(|| {
            let fault = Fault::new(&reason::TASKS_BAD_ANSWER).fact("why", "no list in it").fact("done", "");
            with_effect(fault, Effect::Complete)
        })?)
    }

    pub(crate) async fn rename_list(&mut self, id: &str, name: &str) -> Result<(), ToolFailure> {
        let (there, wanted) = (id.to_owned(), name.trim().to_owned());
        let proof = Proof::lists(move |cache| {
            let is = cache.list(&there)?.name == wanted;
            is.then(|| ConfirmedChange { list: Some(there.clone()), ..ConfirmedChange::default() })
        });
        let params = vec![("list_id", id.to_owned()), ("name", name.to_owned())];
        let before = self.account.cache().list(id).map(|list| list.name.clone());
        let opposite = before.map(|before| UndoStep::Opposite {
            method: "rtm.lists.setName",
            params: vec![("list_id", id.to_owned()), ("name", before)],
        });
        let change = Change::new("rtm.lists.setName", params).proven_by(proof);
        let made = self.make_or(change, |_| opposite).await?;
        self.note_list(&made);
        Ok(())
    }

    pub(crate) async fn archive_list(&mut self, id: &str, archived: bool) -> Result<(), ToolFailure> {
        let there = id.to_owned();
        let proof = Proof::lists(move |cache| {
            let is = cache.list(&there)?.archived == archived;
            is.then(|| ConfirmedChange { list: Some(there.clone()), ..ConfirmedChange::default() })
        });
        let (method, back) = match archived {
            true => ("rtm.lists.archive", "rtm.lists.unarchive"),
            false => ("rtm.lists.unarchive", "rtm.lists.archive"),
        };
        let params: Params = vec![("list_id", id.to_owned())];
        let opposite = UndoStep::Opposite { method: back, params: params.clone() };
        let made = self.make_with(Change::new(method, params).proven_by(proof), opposite).await?;
        self.note_list(&made);
        Ok(())
    }

    pub(crate) async fn delete_list(&mut self, id: &str) -> Result<(), ToolFailure> {
        self.make(list_deletion(id)).await?;
        self.account.update_cache(|cache| cache.forget_list(id));
        // Only a complete update reports the new lists of its tasks.
        self.account.invalidate(Invalidation::Everything).await;
        Ok(())
    }

    fn note_list(&self, made: &ChangeResult) {
        let list = items(&made.answer, "list").into_iter().find_map(crate::model::List::read);
        if let Some(list) = list {
            self.account.update_cache(|cache| cache.put_list(list));
        }
    }
}

fn list_of(made: &ChangeResult) -> Option<String> {
    let found = made.confirmed.as_ref().and_then(|it| it.list.clone());
    found.or_else(|| some(items(&made.answer, "list").first()?, "id"))
}

pub(crate) struct NewTask {
    pub(crate) name: String,
    /// Whether smart-add marks such as ^tomorrow are parsed.
    pub(crate) smart: bool,
    pub(crate) list: Option<String>,
    pub(crate) list_name: String,
    /// The parent task, by its own id without the series.
    pub(crate) parent: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TagOperation {
    Add,
    Remove,
    Set,
}

/// A new task is identified by its mark. If the service does not report marks, it is the only new task whose
/// name is part of the requested text.
fn added(mark: String, name: String, before: HashSet<TaskKey>) -> Proof {
    Proof::tasks(move |cache| {
        let new: Vec<&Task> = cache.tasks().filter(|task| !before.contains(&task.key)).collect();
        let marked = new.iter().find(|task| task.external == mark);
        let mut named = new
            .iter()
            .filter(|task| task.external.is_empty() && !task.name.is_empty() && name.contains(&task.name));
        let found = marked.or_else(|| named.next().filter(|_| named.next().is_none()))?;
        Some(ConfirmedChange { task: Some(found.key.clone()), ..ConfirmedChange::default() })
    })
}

fn fresh_mark() -> Result<String, Fault> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other).or_fault(&reason::SERVER_BUG)?;
    Ok(format!("failwell-{}", hex::encode(bytes)))
}

/// Tags are sent as one text with commas.
fn checked_tags(tags: &[String]) -> Result<Vec<String>, ToolFailure> {
    let trimmed: Vec<String> = tags.iter().map(|tag| tag.trim().to_owned()).collect();
    if trimmed.iter().any(|tag| tag.is_empty() || tag.contains(',')) {
        return Err(invalid("tags", "a tag is empty or has a comma", "give each tag as an item of its own"));
    }
    Ok(trimmed)
}

pub(crate) fn deletion(list: String, key: TaskKey, name: &str) -> Change {
    let gone = key.clone();
    let proof = Proof::tasks(move |cache| {
        cache
            .task(&gone)
            .is_none()
            .then(|| ConfirmedChange { task: Some(gone.clone()), ..ConfirmedChange::default() })
    });
    let params = vec![("list_id", list), ("taskseries_id", key.series.clone()), ("task_id", key.task)];
    Change { task: name.to_owned(), ..Change::new("rtm.tasks.delete", params) }.proven_by(proof)
}

pub(crate) fn note_deletion(note: &str) -> Change {
    let gone = note.to_owned();
    let proof = Proof::tasks(move |cache| {
        let is_there = cache.tasks().any(|task| task.notes.iter().any(|note| note.id == gone));
        (!is_there).then(ConfirmedChange::default)
    });
    Change::new("rtm.tasks.notes.delete", vec![("note_id", note.to_owned())]).proven_by(proof)
}

pub(crate) fn list_deletion(id: &str) -> Change {
    let gone = id.to_owned();
    let proof = Proof::lists(move |cache| cache.list(&gone).is_none().then(ConfirmedChange::default));
    Change::new("rtm.lists.delete", vec![("list_id", id.to_owned())]).proven_by(proof)
}

/// Parses a date of the caller. Other texts are parsed by the service, in the account's time zone.
pub(crate) async fn moment(account: &Account, wanted: &str) -> Result<Option<Moment>, ToolFailure> {
    if wanted.trim().is_empty() {
        return Ok(None);
    }
    let zone = account.zone().await?;
    if let Some(moment) = read_date(wanted, &zone) {
        return Ok(Some(moment));
    }
    let no_date = || Fault::new(&reason::TASKS_INVALID_DATE).fact("wanted", echo(wanted));
    let mut params: Params = vec![("text", wanted.to_owned())];
    if let Some(name) = zone.iana_name() {
        params.push(("timezone", name.to_owned()));
    }
    let answer = match account.client.open("rtm.time.parse", params).await {
        Err(fault) if fault.reason() == &reason::TASKS_RTM_REFUSED => {
            return Err(no_date().absorbing(fault).into());
        }
        answer => answer?,
    };
    let time = first(answer.get("time").cloned().unwrap_or_default());
    let at = words(&time).parse().map_err(|_| no_date())?;
    Ok(Some(Moment { at, has_time: text(&time, "precision") == "time" }))
}
