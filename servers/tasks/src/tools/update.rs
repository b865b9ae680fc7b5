use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{Context, Tool, Toolbox, with_state};

use super::arguments::{Importance, UpdateTask};
use super::{ChangedTask, ToolResult, changing, conclude};
use crate::account::Account;
use crate::account::edit::{Edits, moment};
use crate::lookup::{self, TaskScope};
use crate::model::{Moment, Priority, Task, TaskKey};
use crate::reason;
use crate::tool_failure::{ToolFailure, echo, invalid};

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox.tool(Tool::typed_outcome("rtm_updateTask", "Changes the given fields of a task and leaves the others: name, due, start, priority, estimate, url, repeat, location. Empty text removes a value.", with_state(account, changing(update)))?.titled("Change a task").idempotent()))
}

async fn update(account: Arc<Account>, given: UpdateTask, cx: Context) -> ToolResult<ChangedTask> {
    let mut edits = Edits::new(&account);
    let done = do_update(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_updateTask", &given.task), edits, done).await
}

pub(super) async fn do_update(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &UpdateTask,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, ToolFailure> {
    let task = lookup::task(account, &given.task, given.list.as_deref(), TaskScope::All, cx).await?;
    // All checks that need no change come before the first change.
    if let Some(url) = given.url.as_deref().filter(|url| !url.is_empty()) {
        check_url(url)?;
    }
    let due = dated(account, given.due.as_deref()).await?;
    let start = dated(account, given.start.as_deref()).await?;
    check_order(&task, given, due, start)?;
    if let Some(name) = &given.name {
        edits.rename(&task, name).await?;
    }
    set_dates(edits, &task, due, start).await?;
    if let Some(priority) = given.priority {
        edits.prioritise(&task, importance(priority)).await?;
    }
    if let Some(estimate) = &given.estimate {
        edits.estimate(&task, estimate).await?;
    }
    if let Some(url) = &given.url {
        edits.link(&task, url).await?;
    }
    if let Some(repeat) = &given.repeat {
        edits.repeat(&task, repeat).await?;
    }
    if let Some(location) = &given.location {
        edits.locate(&task, location).await?;
    }
    Ok(Some(task.key))
}

/// Parses a given date. `Some(None)` removes the date.
async fn dated(account: &Account, given: Option<&str>) -> Result<Option<Option<Moment>>, ToolFailure> {
    match given {
        Some(text) => Ok(Some(moment(account, text).await?)),
        None => Ok(None),
    }
}

/// The service refuses a start after the due date, but only when the second of the two arrives.
fn check_order(
    task: &Task,
    given: &UpdateTask,
    due: Option<Option<Moment>>,
    start: Option<Option<Moment>>,
) -> Result<(), ToolFailure> {
    let (due, start) = (due.unwrap_or(task.due), start.unwrap_or(task.start));
    let (Some(due), Some(start)) = (due, start) else { return Ok(()) };
    if start.at <= due.at {
        return Ok(());
    }
    let wanted = given.start.as_deref().or(given.due.as_deref()).unwrap_or_default();
    let fault = Fault::new(&reason::TASKS_INVALID_DATE)
        .fact("wanted", echo(wanted))
        .fact("why", ": the start would be after the due date");
    Err(fault.into())
}

/// Sets the dates in an order that never puts the start after the due date.
async fn set_dates(
    edits: &mut Edits<'_>,
    task: &Task,
    due: Option<Option<Moment>>,
    start: Option<Option<Moment>>,
) -> Result<(), ToolFailure> {
    let due_first = match (due.flatten(), task.start) {
        (Some(due), Some(start)) => due.at >= start.at,
        _ => true,
    };
    if let (true, Some(due)) = (due_first, due) {
        edits.set_due(task, due).await?;
    }
    if let Some(start) = start {
        edits.set_start(task, start).await?;
    }
    if let (false, Some(due)) = (due_first, due) {
        edits.set_due(task, due).await?;
    }
    Ok(())
}

fn importance(given: Importance) -> Priority {
    match given {
        Importance::High => Priority::High,
        Importance::Medium => Priority::Medium,
        Importance::Low => Priority::Low,
        Importance::None => Priority::None,
    }
}

fn check_url(url: &str) -> Result<(), ToolFailure> {
    let fits = url.split_once("://").is_some_and(|(scheme, rest)| {
        !scheme.is_empty()
            && !rest.is_empty()
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    });
    if fits && !url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Ok(());
    }
    Err(invalid("url", "it is no address", "write it with its scheme, such as https://example.org/"))
}
