//! The changes tools make, each with the way to prove that it was made.

use std::collections::HashSet;
use std::sync::Arc;

use failwell_fault::{Effect, Fault, OrFault, reason};
use serde_json::Value;

use crate::account::{Account, Distrust, Need};
use crate::change::{Change, Made};
use crate::dates::{iso, read as read_date};
use crate::doubt::{Confirmed, Proof};
use crate::journal::Step;
use crate::model::{Moment, Priority, Task, TaskKey};
use crate::refusal::with_effect;
use crate::shape::{first, items, some, text, words};
use crate::sign::Params;
use crate::stop::{Stop, echo, invalid};

/// The ids that address a task.
fn ids(task: &Task) -> Params {
    vec![
        ("list_id", task.list.clone()),
        ("taskseries_id", task.key.series.clone()),
        ("task_id", task.key.task.clone()),
    ]
}

/// A change of one task.
fn of_task(method: &'static str, task: &Task, more: Params) -> Change {
    let mut params = ids(task);
    params.extend(more);
    Change { task: task.name.clone(), ..Change::new(method, params) }
}

/// It is made when the task, as it is now, says so.
fn when(task: &Task, holds: impl Fn(&Task) -> bool + Send + Sync + 'static) -> Proof {
    let key = task.key.clone();
    Proof::tasks(move |book| {
        let fits = book.task(&key).is_some_and(&holds);
        fits.then(|| Confirmed { task: Some(key.clone()), ..Confirmed::default() })
    })
}

/// What a call changes, piece by piece, with the way back.
pub(crate) struct Edits<'a> {
    account: &'a Arc<Account>,
    pub(crate) steps: Vec<Step>,
    /// Whether the answer to one of them was lost.
    pub(crate) read_back: bool,
}

impl<'a> Edits<'a> {
    pub(crate) fn new(account: &'a Arc<Account>) -> Edits<'a> {
        Edits { account, steps: Vec::new(), read_back: false }
    }

    /// Makes a change that the service itself can undo.
    async fn make(&mut self, change: Change) -> Result<Made, Stop> {
        self.make_or(change, |_| None).await
    }

    async fn make_or(
        &mut self,
        change: Change,
        otherwise: impl FnOnce(&Made) -> Option<Step>,
    ) -> Result<Made, Stop> {
        match self.account.make(change).await {
            Ok(made) => {
                self.read_back |= made.confirmed.is_some();
                self.steps.push(made.step(|| otherwise(&made)));
                Ok(made)
            }
            Err(fault) => Err(Stop::Fault(self.so_far(fault))),
        }
    }

    /// A later piece that failed: the earlier ones are made.
    pub(crate) fn so_far(&self, fault: Fault) -> Fault {
        match (self.steps.is_empty(), fault.effect()) {
            (false, Effect::None) => with_effect(fault, Effect::Partial),
            _ => fault,
        }
    }

    pub(crate) async fn add(&mut self, new: NewTask) -> Result<TaskKey, Stop> {
        if new.name.trim().is_empty() {
            return Err(Fault::new(&reason::TASKS_INVALID_TASK_NAME).into());
        }
        // What was there before is what is not the new one.
        self.account.sync(Need::Anything).await?;
        let before: HashSet<TaskKey> = self.account.book().tasks().map(|task| task.key.clone()).collect();
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
                    Some(key) => (account.book().task(&key)?.list.clone(), key),
                    None => made.task()?,
                };
                Some(Step::DeleteTask { list, key })
            })
            .await?;
        let found = made.confirmed.as_ref().and_then(|it| it.task.clone());
        let key = found.or_else(|| made.task().map(|(_, key)| key));
        Ok(key.ok_or_else(|| {
            let fault = Fault::new(&reason::TASKS_BAD_ANSWER).fact("why", "no task in it").fact("done", "");
            with_effect(fault, Effect::Complete)
        })?)
    }

    pub(crate) async fn complete(&mut self, task: &Task) -> Result<(), Stop> {
        let proof = when(task, |now| now.completed.is_some());
        self.make(of_task("rtm.tasks.complete", task, Vec::new()).proven_by(proof)).await?;
        // The next one of a repeating task, and what stands below, is told with the changes.
        self.account.distrust(Distrust::Changes).await;
        Ok(())
    }

    pub(crate) async fn reopen(&mut self, task: &Task) -> Result<(), Stop> {
        let proof = when(task, |now| now.completed.is_none());
        self.make(of_task("rtm.tasks.uncomplete", task, Vec::new()).proven_by(proof)).await?;
        self.account.distrust(Distrust::Changes).await;
        Ok(())
    }

    pub(crate) async fn delete(&mut self, task: &Task) -> Result<(), Stop> {
        let made = self.make(deletion(task.list.clone(), task.key.clone(), &task.name)).await;
        if made.is_ok() {
            self.account.change_book(|book| book.forget(&task.key));
            self.account.distrust(Distrust::Changes).await;
        }
        made.map(|_| ())
    }

    pub(crate) async fn postpone(&mut self, task: &Task) -> Result<(), Stop> {
        let before = task.postponed;
        let proof = when(task, move |now| now.postponed > before);
        self.make(of_task("rtm.tasks.postpone", task, Vec::new()).proven_by(proof)).await?;
        Ok(())
    }

    pub(crate) async fn move_to(&mut self, task: &Task, list: &str, name: &str) -> Result<(), Stop> {
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
        self.make(change.proven_by(proof)).await?;
        self.account.distrust(Distrust::Changes).await;
        Ok(())
    }

    pub(crate) async fn put_below(&mut self, task: &Task, parent: Option<&Task>) -> Result<(), Stop> {
        let parent = parent.map_or(String::new(), |parent| parent.key.task.clone());
        let there = parent.clone();
        let proof = when(task, move |now| now.parent == there);
        let change = of_task("rtm.tasks.setParentTask", task, vec![("parent_task_id", parent)]);
        self.make(change.proven_by(proof)).await?;
        self.account.distrust(Distrust::Changes).await;
        Ok(())
    }

    pub(crate) async fn rename(&mut self, task: &Task, name: &str) -> Result<(), Stop> {
        let wanted = name.trim().to_owned();
        let proof = when(task, move |now| now.name == wanted);
        let change = of_task("rtm.tasks.setName", task, vec![("name", name.to_owned())]);
        self.make(change.proven_by(proof)).await?;
        Ok(())
    }

    pub(crate) async fn prioritise(&mut self, task: &Task, priority: Priority) -> Result<(), Stop> {
        let proof = when(task, move |now| now.priority == priority);
        let spelled = if priority == Priority::None { "N" } else { priority.as_str() };
        let change = of_task("rtm.tasks.setPriority", task, vec![("priority", spelled.to_owned())]);
        self.make(change.proven_by(proof)).await?;
        Ok(())
    }

    pub(crate) async fn estimate(&mut self, task: &Task, estimate: &str) -> Result<(), Stop> {
        let (before, wanted) = (task.estimate.clone(), estimate.to_owned());
        let proof = when(task, move |now| now.estimate == wanted || now.estimate != before);
        let change = of_task("rtm.tasks.setEstimate", task, vec![("estimate", estimate.to_owned())]);
        self.make(change.proven_by(proof)).await?;
        Ok(())
    }

    pub(crate) async fn link(&mut self, task: &Task, url: &str) -> Result<(), Stop> {
        let wanted = url.to_owned();
        let proof = when(task, move |now| now.url == wanted);
        let change = of_task("rtm.tasks.setURL", task, vec![("url", url.to_owned())]);
        self.make(change.proven_by(proof)).await?;
        Ok(())
    }

    pub(crate) async fn repeat(&mut self, task: &Task, repeat: &str) -> Result<(), Stop> {
        let (before, gone) = (task.repeat.clone(), repeat.is_empty());
        let proof = when(task, move |now| if gone { now.repeat.is_none() } else { now.repeat != before });
        let change = of_task("rtm.tasks.setRecurrence", task, vec![("repeat", repeat.to_owned())]);
        self.make(change.proven_by(proof)).await?;
        Ok(())
    }

    pub(crate) async fn locate(&mut self, task: &Task, wanted: &str) -> Result<(), Stop> {
        let location = if wanted.is_empty() { String::new() } else { self.location(wanted).await? };
        let there = location.clone();
        let proof = when(task, move |now| now.location == there);
        let change = of_task("rtm.tasks.setLocation", task, vec![("location_id", location)]);
        self.make(change.proven_by(proof)).await?;
        Ok(())
    }

    /// A location by name or id.
    async fn location(&self, wanted: &str) -> Result<String, Stop> {
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

    pub(crate) async fn set_due(&mut self, task: &Task, due: Option<Moment>) -> Result<(), Stop> {
        self.set_moment("rtm.tasks.setDueDate", ("due", "has_due_time"), task, due, |now| now.due).await
    }

    pub(crate) async fn set_start(&mut self, task: &Task, start: Option<Moment>) -> Result<(), Stop> {
        self.set_moment("rtm.tasks.setStartDate", ("start", "has_start_time"), task, start, |now| now.start)
            .await
    }

    async fn set_moment(
        &mut self,
        method: &'static str,
        (name, has_time): (&'static str, &'static str),
        task: &Task,
        moment: Option<Moment>,
        of: fn(&Task) -> Option<Moment>,
    ) -> Result<(), Stop> {
        let more = match moment {
            Some(moment) => {
                vec![(name, iso(moment.at)), (has_time, if moment.has_time { "1" } else { "0" }.to_owned())]
            }
            None => Vec::new(),
        };
        let proof = when(task, move |now| of(now).map(|it| it.at) == moment.map(|it| it.at));
        self.make(of_task(method, task, more).proven_by(proof)).await?;
        Ok(())
    }

    pub(crate) async fn tag(&mut self, task: &Task, how: Tagging, tags: &[String]) -> Result<(), Stop> {
        let tags = checked_tags(tags)?;
        let method = match how {
            Tagging::Add => "rtm.tasks.addTags",
            Tagging::Remove => "rtm.tasks.removeTags",
            Tagging::Set => "rtm.tasks.setTags",
        };
        let given = tags.clone();
        let proof = when(task, move |now| {
            let has = |tag: &String| now.tags.iter().any(|known| known.to_lowercase() == tag.to_lowercase());
            match how {
                Tagging::Add => given.iter().all(has),
                Tagging::Remove => !given.iter().any(has),
                Tagging::Set => given.iter().all(has) && now.tags.len() == given.len(),
            }
        });
        let change = of_task(method, task, vec![("tags", tags.join(","))]);
        self.make(change.proven_by(proof)).await?;
        Ok(())
    }

    pub(crate) async fn add_note(&mut self, task: &Task, title: &str, body: &str) -> Result<(), Stop> {
        let before: HashSet<String> = task.notes.iter().map(|note| note.id.clone()).collect();
        let (key, wanted) = (task.key.clone(), body.to_owned());
        let proof = Proof::tasks(move |book| {
            let new = book
                .task(&key)?
                .notes
                .iter()
                .find(|note| !before.contains(&note.id) && note.text.trim() == wanted.trim())?;
            Some(Confirmed { task: Some(key.clone()), note: Some(new.id.clone()), list: None })
        });
        let more = vec![("note_title", title.to_owned()), ("note_text", body.to_owned())];
        let change = of_task("rtm.tasks.notes.add", task, more).proven_by(proof);
        self.make_or(change, |made| {
            let found = made.confirmed.as_ref().and_then(|it| it.note.clone());
            let id = found.or_else(|| some(items(&made.answer, "note").first()?, "id"));
            id.map(Step::DeleteNote)
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
    ) -> Result<(), Stop> {
        let (id, wanted) = (note.to_owned(), body.to_owned());
        let proof =
            when(task, move |now| now.notes.iter().any(|it| it.id == id && it.text.trim() == wanted.trim()));
        let params = vec![
            ("note_id", note.to_owned()),
            ("note_title", title.to_owned()),
            ("note_text", body.to_owned()),
        ];
        self.make(Change::new("rtm.tasks.notes.edit", params).proven_by(proof)).await?;
        self.after_note().await
    }

    pub(crate) async fn delete_note(&mut self, note: &str) -> Result<(), Stop> {
        self.make(note_deletion(note)).await?;
        self.after_note().await
    }

    /// The answer tells the note alone; the task is told with the changes.
    async fn after_note(&self) -> Result<(), Stop> {
        self.account.sync(Need::Now).await.map_err(|fault| self.so_far(fault))?;
        Ok(())
    }

    pub(crate) async fn add_list(&mut self, name: &str, filter: Option<&str>) -> Result<String, Stop> {
        self.account.sync(Need::Anything).await?;
        let before: HashSet<String> =
            self.account.book().lists().iter().map(|list| list.id.clone()).collect();
        let mut params: Params = vec![("name", name.to_owned())];
        if let Some(filter) = filter {
            params.push(("filter", filter.to_owned()));
        }
        let wanted = name.trim().to_owned();
        let proof = Proof::lists(move |book| {
            let lists = book.lists();
            let new = lists.iter().find(|list| !before.contains(&list.id) && list.name == wanted)?;
            Some(Confirmed { list: Some(new.id.clone()), ..Confirmed::default() })
        });
        let made = self
            .make_or(Change::new("rtm.lists.add", params).proven_by(proof), |made| {
                list_of(made).map(Step::DeleteList)
            })
            .await?;
        self.note_list(&made);
        let id = list_of(&made);
        Ok(id.ok_or_else(|| {
            let fault = Fault::new(&reason::TASKS_BAD_ANSWER).fact("why", "no list in it").fact("done", "");
            with_effect(fault, Effect::Complete)
        })?)
    }

    pub(crate) async fn rename_list(&mut self, id: &str, name: &str) -> Result<(), Stop> {
        let (there, wanted) = (id.to_owned(), name.trim().to_owned());
        let proof = Proof::lists(move |book| {
            let is = book.list(&there)?.name == wanted;
            is.then(|| Confirmed { list: Some(there.clone()), ..Confirmed::default() })
        });
        let params = vec![("list_id", id.to_owned()), ("name", name.to_owned())];
        let made = self.make(Change::new("rtm.lists.setName", params).proven_by(proof)).await?;
        self.note_list(&made);
        Ok(())
    }

    pub(crate) async fn archive_list(&mut self, id: &str, archived: bool) -> Result<(), Stop> {
        let there = id.to_owned();
        let proof = Proof::lists(move |book| {
            let is = book.list(&there)?.archived == archived;
            is.then(|| Confirmed { list: Some(there.clone()), ..Confirmed::default() })
        });
        let method = if archived { "rtm.lists.archive" } else { "rtm.lists.unarchive" };
        let made = self.make(Change::new(method, vec![("list_id", id.to_owned())]).proven_by(proof)).await?;
        self.note_list(&made);
        Ok(())
    }

    pub(crate) async fn delete_list(&mut self, id: &str) -> Result<(), Stop> {
        self.make(list_deletion(id)).await?;
        self.account.change_book(|book| book.forget_list(id));
        // Where its tasks went is told with everything.
        self.account.distrust(Distrust::Everything).await;
        Ok(())
    }

    fn note_list(&self, made: &Made) {
        let told = items(&made.answer, "list").into_iter().find_map(crate::model::List::read);
        if let Some(list) = told {
            self.account.change_book(|book| book.put_list(list));
        }
    }
}

fn list_of(made: &Made) -> Option<String> {
    let found = made.confirmed.as_ref().and_then(|it| it.list.clone());
    found.or_else(|| some(items(&made.answer, "list").first()?, "id"))
}

/// A task to add.
pub(crate) struct NewTask {
    pub(crate) name: String,
    /// Whether marks such as ^tomorrow are understood.
    pub(crate) smart: bool,
    pub(crate) list: Option<String>,
    pub(crate) list_name: String,
    /// The task it is below, by its own id alone.
    pub(crate) parent: Option<String>,
}

/// What is done with tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tagging {
    Add,
    Remove,
    Set,
}

/// An addition is known by its mark; where the service does not tell marks, by being the one new task whose name is in
/// what was asked for.
fn added(mark: String, name: String, before: HashSet<TaskKey>) -> Proof {
    Proof::tasks(move |book| {
        let new: Vec<&Task> = book.tasks().filter(|task| !before.contains(&task.key)).collect();
        let marked = new.iter().find(|task| task.external == mark);
        let mut named = new
            .iter()
            .filter(|task| task.external.is_empty() && !task.name.is_empty() && name.contains(&task.name));
        let found = marked.or_else(|| named.next().filter(|_| named.next().is_none()))?;
        Some(Confirmed { task: Some(found.key.clone()), ..Confirmed::default() })
    })
}

fn fresh_mark() -> Result<String, Fault> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other).or_fault(&reason::SERVER_BUG)?;
    Ok(format!("failwell-{}", crate::sign::hex(&bytes)))
}

/// Tags travel as one text with commas.
fn checked_tags(tags: &[String]) -> Result<Vec<String>, Stop> {
    let trimmed: Vec<String> = tags.iter().map(|tag| tag.trim().to_owned()).collect();
    if trimmed.iter().any(|tag| tag.is_empty() || tag.contains(',')) {
        return Err(invalid("tags", "a tag is empty or has a comma", "give each tag as an item of its own"));
    }
    Ok(trimmed)
}

/// Takes a task away.
pub(crate) fn deletion(list: String, key: TaskKey, name: &str) -> Change {
    let gone = key.clone();
    let proof = Proof::tasks(move |book| {
        book.task(&gone).is_none().then(|| Confirmed { task: Some(gone.clone()), ..Confirmed::default() })
    });
    let params = vec![("list_id", list), ("taskseries_id", key.series.clone()), ("task_id", key.task)];
    Change { task: name.to_owned(), ..Change::new("rtm.tasks.delete", params) }.proven_by(proof)
}

/// Takes a note away.
pub(crate) fn note_deletion(note: &str) -> Change {
    let gone = note.to_owned();
    let proof = Proof::tasks(move |book| {
        let is_there = book.tasks().any(|task| task.notes.iter().any(|note| note.id == gone));
        (!is_there).then(Confirmed::default)
    });
    Change::new("rtm.tasks.notes.delete", vec![("note_id", note.to_owned())]).proven_by(proof)
}

/// Takes a list away.
pub(crate) fn list_deletion(id: &str) -> Change {
    let gone = id.to_owned();
    let proof = Proof::lists(move |book| book.list(&gone).is_none().then(Confirmed::default));
    Change::new("rtm.lists.delete", vec![("list_id", id.to_owned())]).proven_by(proof)
}

/// A date the caller wrote: read here when it is one, else by the service, in the account's time zone.
pub(crate) async fn moment(account: &Account, wanted: &str) -> Result<Option<Moment>, Stop> {
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
