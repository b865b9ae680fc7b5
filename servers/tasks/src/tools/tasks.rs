use std::sync::Arc;

use failwell_fault::Fault;
use failwell_server::{Context, Toolbox};

use super::arguments::{CompleteTask, CreateTask, MoveTask, OneTask, SetParent, TagTask};
use super::{Answer, Changed, changing, conclude};
use crate::account::Account;
use crate::edit::{Edits, NewTask, Tagging};
use crate::lookup::{self, Among};
use crate::model::{Task, TaskKey};
use crate::stop::{Stop, invalid};

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(changing(account, ("rtm_createTask", "Add a task", "Adds a task. The name is read as smart add: ^due ~start !priority #tag-or-list @location =estimate *repeat, unless literal."), create)?)
        .tool(changing(account, ("rtm_completeTask", "Complete a task", "Completes a task. A repeating task comes back with its next date."), complete)?.idempotent())
        .tool(changing(account, ("rtm_reopenTask", "Reopen a task", "Makes a completed task open again."), reopen)?.idempotent())
        .tool(changing(account, ("rtm_deleteTask", "Delete a task", "Deletes a task; rtm_undo brings it back."), delete)?.destructive())
        .tool(changing(account, ("rtm_postponeTask", "Postpone a task", "Puts a task off by a day, or to today when it is overdue."), postpone)?)
        .tool(changing(account, ("rtm_moveTask", "Move a task", "Moves a task to another list."), move_task)?.idempotent())
        .tool(changing(account, ("rtm_setParent", "Make a sub-task", "Puts a task below another, or takes it out again (Pro accounts)."), set_parent)?.idempotent())
        .tool(changing(account, ("rtm_tagTask", "Tag a task", "Adds tags, takes some away, or sets all of them."), tag)?.idempotent()))
}

/// The task a caller means.
pub(super) async fn meant(
    account: &Account,
    given: &OneTask,
    among: Among,
    cx: Option<&Context>,
) -> Result<Task, Stop> {
    lookup::task(account, &given.task, given.list.as_deref(), among, cx).await
}

async fn create(account: Arc<Account>, given: CreateTask, cx: Context) -> Answer<Changed> {
    let mut edits = Edits::new(&account);
    let done = do_create(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_createTask", &given.name), edits, done).await
}

pub(super) async fn do_create(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &CreateTask,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, Stop> {
    let list = match &given.list {
        Some(list) => Some(lookup::list(account, list).await?),
        None => None,
    };
    if list.as_ref().is_some_and(|list| list.smart) {
        return Err(invalid("list", "a smart list holds what its filter finds", "name an ordinary list"));
    }
    let parent = match &given.parent {
        Some(parent) => Some(lookup::task(account, parent, None, Among::Open, cx).await?),
        None => None,
    };
    let new = NewTask {
        name: given.name.clone(),
        smart: !given.literal,
        list_name: given.list.clone().unwrap_or_default(),
        list: list.map(|list| list.id),
        parent: parent.map(|parent| parent.key.task),
    };
    edits.add(new).await.map(Some)
}

async fn complete(account: Arc<Account>, given: CompleteTask, cx: Context) -> Answer<Changed> {
    let given = OneTask { task: given.task_id, list: given.list_id };
    one(account, given, cx, ("rtm_completeTask", Simple::Complete)).await
}

async fn reopen(account: Arc<Account>, given: OneTask, cx: Context) -> Answer<Changed> {
    one(account, given, cx, ("rtm_reopenTask", Simple::Reopen)).await
}

async fn delete(account: Arc<Account>, given: OneTask, cx: Context) -> Answer<Changed> {
    one(account, given, cx, ("rtm_deleteTask", Simple::Delete)).await
}

async fn postpone(account: Arc<Account>, given: OneTask, cx: Context) -> Answer<Changed> {
    one(account, given, cx, ("rtm_postponeTask", Simple::Postpone)).await
}

/// What needs a task and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Simple {
    Complete,
    Reopen,
    Delete,
    Postpone,
}

async fn one(
    account: Arc<Account>,
    given: OneTask,
    cx: Context,
    (tool, what): (&'static str, Simple),
) -> Answer<Changed> {
    let mut edits = Edits::new(&account);
    let done = do_simple(&account, &mut edits, &given, what, Some(&cx)).await;
    conclude(&account, &cx, (tool, &given.task), edits, done).await
}

pub(super) async fn do_simple(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &OneTask,
    what: Simple,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, Stop> {
    let among = match what {
        Simple::Reopen => Among::Completed,
        Simple::Complete | Simple::Postpone => Among::Open,
        Simple::Delete => Among::All,
    };
    let task = meant(account, given, among, cx).await?;
    match what {
        Simple::Complete => edits.complete(&task).await?,
        Simple::Reopen => edits.reopen(&task).await?,
        Simple::Delete => edits.delete(&task).await?,
        Simple::Postpone => edits.postpone(&task).await?,
    }
    Ok((what != Simple::Delete).then_some(task.key))
}

async fn move_task(account: Arc<Account>, given: MoveTask, cx: Context) -> Answer<Changed> {
    let mut edits = Edits::new(&account);
    let done = do_move(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_moveTask", &given.task), edits, done).await
}

pub(super) async fn do_move(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &MoveTask,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, Stop> {
    let task = lookup::task(account, &given.task, given.list.as_deref(), Among::All, cx).await?;
    let list = lookup::list(account, &given.to).await?;
    if list.smart {
        return Err(invalid("to", "a smart list holds what its filter finds", "name an ordinary list"));
    }
    edits.move_to(&task, &list.id, &given.to).await?;
    Ok(Some(task.key))
}

async fn set_parent(account: Arc<Account>, given: SetParent, cx: Context) -> Answer<Changed> {
    let mut edits = Edits::new(&account);
    let done = do_set_parent(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_setParent", &given.task), edits, done).await
}

async fn do_set_parent(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &SetParent,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, Stop> {
    let task = lookup::task(account, &given.task, given.list.as_deref(), Among::All, cx).await?;
    let parent = match &given.parent {
        Some(parent) => Some(lookup::task(account, parent, None, Among::Open, cx).await?),
        None => None,
    };
    edits.put_below(&task, parent.as_ref()).await?;
    Ok(Some(task.key))
}

async fn tag(account: Arc<Account>, given: TagTask, cx: Context) -> Answer<Changed> {
    let mut edits = Edits::new(&account);
    let done = do_tag(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_tagTask", &given.task), edits, done).await
}

pub(super) async fn do_tag(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &TagTask,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, Stop> {
    if given.add.is_empty() && given.remove.is_empty() && given.set.is_none() {
        return Err(invalid("add", "there is nothing to do", "give add, remove or set"));
    }
    let task = lookup::task(account, &given.task, given.list.as_deref(), Among::All, cx).await?;
    if let Some(set) = &given.set {
        edits.tag(&task, Tagging::Set, set).await?;
    }
    if !given.add.is_empty() {
        edits.tag(&task, Tagging::Add, &given.add).await?;
    }
    if !given.remove.is_empty() {
        edits.tag(&task, Tagging::Remove, &given.remove).await?;
    }
    Ok(Some(task.key))
}
