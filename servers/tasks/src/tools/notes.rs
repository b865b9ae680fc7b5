use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{Context, Tool, Toolbox, with_state};

use super::arguments::{AddNote, DeleteNote, EditNote};
use super::{ChangedTask, ToolResult, changing, conclude};
use crate::account::edit::Edits;
use crate::account::{Account, Freshness};
use crate::lookup::{self, TaskScope};
use crate::model::{Note, Task, TaskKey};
use crate::reason;
use crate::tool_failure::{ToolFailure, echo};

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(
            Tool::typed_outcome("rtm_addNote", "Adds a note to a task.", with_state(account, changing(add)))?
                .titled("Add a note"),
        )
        .tool(
            Tool::typed_outcome(
                "rtm_editNote",
                "Changes a note of a task.",
                with_state(account, changing(edit)),
            )?
            .titled("Change a note")
            .idempotent(),
        )
        .tool(
            Tool::typed_outcome(
                "rtm_deleteNote",
                "Deletes a note of a task. rtm_undo restores it.",
                with_state(account, changing(delete)),
            )?
            .titled("Delete a note")
            .destructive(),
        ))
}

async fn add(account: Arc<Account>, given: AddNote, cx: Context) -> ToolResult<ChangedTask> {
    let mut edits = Edits::new(&account);
    let done = do_add(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_addNote", &given.task), edits, done).await
}

pub(super) async fn do_add(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &AddNote,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, ToolFailure> {
    let task = lookup::task(account, &given.task, given.list.as_deref(), TaskScope::All, cx).await?;
    edits.add_note(&task, &given.title, &given.text).await?;
    Ok(Some(task.key))
}

async fn edit(account: Arc<Account>, given: EditNote, cx: Context) -> ToolResult<ChangedTask> {
    let (task, note) = with_note(&account, &given.note).await?;
    let mut edits = Edits::new(&account);
    let title = given.title.as_deref().unwrap_or(&note.title);
    let done = edits.edit_note(&task, &note.id, title, &given.text).await.map(|()| Some(task.key.clone()));
    conclude(&account, &cx, ("rtm_editNote", &task.name), edits, done).await
}

async fn delete(account: Arc<Account>, given: DeleteNote, cx: Context) -> ToolResult<ChangedTask> {
    let (task, note) = with_note(&account, &given.note).await?;
    let mut edits = Edits::new(&account);
    let done = edits.delete_note(&note.id).await.map(|()| Some(task.key.clone()));
    conclude(&account, &cx, ("rtm_deleteNote", &task.name), edits, done).await
}

/// Finds a note and its task.
async fn with_note(account: &Account, wanted: &str) -> Result<(Task, Note), ToolFailure> {
    for need in [Freshness::Anything, Freshness::Now] {
        account.sync(need).await?;
        let cache = account.cache();
        let found = cache.tasks().find_map(|task| {
            let note = task.notes.iter().find(|note| note.id == wanted)?;
            Some((task.clone(), note.clone()))
        });
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(Fault::new(&reason::TASKS_NO_SUCH_NOTE).fact("wanted", echo(wanted)).into())
}
