use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{Context, Tool, Toolbox, with_state};

use super::arguments::{CompleteTask, CreateTask, MoveTask, SetParent, TagTask, TaskArgument};
use super::{ChangedTask, ToolResult, changing, conclude};
use crate::account::Account;
use crate::account::edit::{Edits, NewTask, TagOperation};
use crate::lookup::{self, TaskScope};
use crate::model::{Task, TaskKey};
use crate::tool_failure::{ToolFailure, invalid};

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(Tool::typed_outcome("rtm_createTask", "Adds a task. The name is read as smart add: ^due ~start !priority #tag-or-list @location =estimate *repeat, unless literal.", with_state(account, changing(create)))?.titled("Add a task"))
        .tool(Tool::typed_outcome("rtm_completeTask", "Completes a task. A repeating task gets its next date.", with_state(account, changing(complete)))?.titled("Complete a task").idempotent())
        .tool(Tool::typed_outcome("rtm_reopenTask", "Reopens a completed task.", with_state(account, changing(reopen)))?.titled("Reopen a task").idempotent())
        .tool(Tool::typed_outcome("rtm_deleteTask", "Deletes a task. rtm_undo restores it.", with_state(account, changing(delete)))?.titled("Delete a task").destructive())
        .tool(Tool::typed_outcome("rtm_postponeTask", "Postpones a task by one day. An overdue task becomes due today.", with_state(account, changing(postpone)))?.titled("Postpone a task"))
        .tool(Tool::typed_outcome("rtm_moveTask", "Moves a task to another list.", with_state(account, changing(move_task)))?.titled("Move a task").idempotent())
        .tool(Tool::typed_outcome("rtm_setParent", "Makes a task a sub-task of another, or a top-level task again (Pro accounts).", with_state(account, changing(set_parent)))?.titled("Make a sub-task").idempotent())
        .tool(Tool::typed_outcome("rtm_tagTask", "Adds tags, removes tags, or replaces all tags.", with_state(account, changing(tag)))?.titled("Tag a task").idempotent()))
}

/// Finds the task that a caller names.
pub(super) async fn find_task(
    account: &Account,
    given: &TaskArgument,
    among: TaskScope,
    cx: Option<&Context>,
) -> Result<Task, ToolFailure> {
    lookup::task(account, &given.task, given.list.as_deref(), among, cx).await
}

async fn create(account: Arc<Account>, given: CreateTask, cx: Context) -> ToolResult<ChangedTask> {
    let mut edits = Edits::new(&account);
    let done = do_create(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_createTask", &given.name), edits, done).await
}

pub(super) async fn do_create(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &CreateTask,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, ToolFailure> {
    let list = match &given.list {
        Some(list) => Some(lookup::list(account, list).await?),
        None => None,
    };
    if list.as_ref().is_some_and(|list| list.smart) {
        return Err(invalid("list", "a smart list holds what its filter finds", "name an ordinary list"));
    }
    let parent = match &given.parent {
        Some(parent) => Some(lookup::task(account, parent, None, TaskScope::Open, cx).await?),
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

async fn complete(account: Arc<Account>, given: CompleteTask, cx: Context) -> ToolResult<ChangedTask> {
    let given = TaskArgument { task: given.task_id, list: given.list_id };
    one(account, given, cx, ("rtm_completeTask", SimpleChange::Complete)).await
}

async fn reopen(account: Arc<Account>, given: TaskArgument, cx: Context) -> ToolResult<ChangedTask> {
    one(account, given, cx, ("rtm_reopenTask", SimpleChange::Reopen)).await
}

async fn delete(account: Arc<Account>, given: TaskArgument, cx: Context) -> ToolResult<ChangedTask> {
    one(account, given, cx, ("rtm_deleteTask", SimpleChange::Delete)).await
}

async fn postpone(account: Arc<Account>, given: TaskArgument, cx: Context) -> ToolResult<ChangedTask> {
    one(account, given, cx, ("rtm_postponeTask", SimpleChange::Postpone)).await
}

/// A change whose only argument is a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SimpleChange {
    Complete,
    Reopen,
    Delete,
    Postpone,
}

async fn one(
    account: Arc<Account>,
    given: TaskArgument,
    cx: Context,
    (tool, what): (&'static str, SimpleChange),
) -> ToolResult<ChangedTask> {
    let mut edits = Edits::new(&account);
    let done = do_simple(&account, &mut edits, &given, what, Some(&cx)).await;
    conclude(&account, &cx, (tool, &given.task), edits, done).await
}

pub(super) async fn do_simple(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &TaskArgument,
    what: SimpleChange,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, ToolFailure> {
    let among = match what {
        SimpleChange::Reopen => TaskScope::Completed,
        SimpleChange::Complete | SimpleChange::Postpone => TaskScope::Open,
        SimpleChange::Delete => TaskScope::All,
    };
    let task = find_task(account, given, among, cx).await?;
    match what {
        SimpleChange::Complete => edits.complete(&task).await?,
        SimpleChange::Reopen => edits.reopen(&task).await?,
        SimpleChange::Delete => edits.delete(&task).await?,
        SimpleChange::Postpone => edits.postpone(&task).await?,
    }
    Ok((what != SimpleChange::Delete).then_some(task.key))
}

async fn move_task(account: Arc<Account>, given: MoveTask, cx: Context) -> ToolResult<ChangedTask> {
    let mut edits = Edits::new(&account);
    let done = do_move(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_moveTask", &given.task), edits, done).await
}

pub(super) async fn do_move(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &MoveTask,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, ToolFailure> {
    let task = lookup::task(account, &given.task, given.list.as_deref(), TaskScope::All, cx).await?;
    let list = lookup::list(account, &given.to).await?;
    if list.smart {
        return Err(invalid("to", "a smart list holds what its filter finds", "name an ordinary list"));
    }
    edits.move_to(&task, &list.id, &given.to).await?;
    Ok(Some(task.key))
}

async fn set_parent(account: Arc<Account>, given: SetParent, cx: Context) -> ToolResult<ChangedTask> {
    let mut edits = Edits::new(&account);
    let done = do_set_parent(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_setParent", &given.task), edits, done).await
}

async fn do_set_parent(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &SetParent,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, ToolFailure> {
    let task = lookup::task(account, &given.task, given.list.as_deref(), TaskScope::All, cx).await?;
    let parent = match &given.parent {
        Some(parent) => Some(lookup::task(account, parent, None, TaskScope::Open, cx).await?),
        None => None,
    };
    edits.put_below(&task, parent.as_ref()).await?;
    Ok(Some(task.key))
}

async fn tag(account: Arc<Account>, given: TagTask, cx: Context) -> ToolResult<ChangedTask> {
    let mut edits = Edits::new(&account);
    let done = do_tag(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_tagTask", &given.task), edits, done).await
}

pub(super) async fn do_tag(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &TagTask,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, ToolFailure> {
    if given.add.is_empty() && given.remove.is_empty() && given.set.is_none() {
        return Err(invalid("add", "there is nothing to do", "give add, remove or set"));
    }
    let task = lookup::task(account, &given.task, given.list.as_deref(), TaskScope::All, cx).await?;
    if let Some(set) = &given.set {
        edits.tag(&task, TagOperation::Set, set).await?;
    }
    if !given.add.is_empty() {
        edits.tag(&task, TagOperation::Add, &given.add).await?;
    }
    if !given.remove.is_empty() {
        edits.tag(&task, TagOperation::Remove, &given.remove).await?;
    }
    Ok(Some(task.key))
}
