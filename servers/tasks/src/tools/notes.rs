use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_server::{Context, Toolbox};

use super::arguments::{AddNote, DeleteNote, EditNote};
use super::{Answer, Changed, changing, conclude};
use crate::account::{Account, Need};
use crate::edit::Edits;
use crate::lookup::{self, Among};
use crate::model::{Note, Task, TaskKey};
use crate::stop::{Stop, echo};

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(changing(account, ("rtm_addNote", "Add a note", "Adds a note to a task."), add)?)
        .tool(
            changing(account, ("rtm_editNote", "Change a note", "Changes a note of a task."), edit)?
                .idempotent(),
        )
        .tool(
            changing(
                account,
                ("rtm_deleteNote", "Delete a note", "Deletes a note of a task; rtm_undo brings it back."),
                delete,
            )?
            .destructive(),
        ))
}

async fn add(account: Arc<Account>, given: AddNote, cx: Context) -> Answer<Changed> {
    let mut edits = Edits::new(&account);
    let done = do_add(&account, &mut edits, &given, Some(&cx)).await;
    conclude(&account, &cx, ("rtm_addNote", &given.task), edits, done).await
}

pub(super) async fn do_add(
    account: &Account,
    edits: &mut Edits<'_>,
    given: &AddNote,
    cx: Option<&Context>,
) -> Result<Option<TaskKey>, Stop> {
    let task = lookup::task(account, &given.task, given.list.as_deref(), Among::All, cx).await?;
    edits.add_note(&task, &given.title, &given.text).await?;
    Ok(Some(task.key))
}

async fn edit(account: Arc<Account>, given: EditNote, cx: Context) -> Answer<Changed> {
    let (task, note) = with_note(&account, &given.note).await?;
    let mut edits = Edits::new(&account);
    let title = given.title.as_deref().unwrap_or(&note.title);
    let done = edits.edit_note(&task, &note.id, title, &given.text).await.map(|()| Some(task.key.clone()));
    conclude(&account, &cx, ("rtm_editNote", &task.name), edits, done).await
}

async fn delete(account: Arc<Account>, given: DeleteNote, cx: Context) -> Answer<Changed> {
    let (task, note) = with_note(&account, &given.note).await?;
    let mut edits = Edits::new(&account);
    let done = edits.delete_note(&note.id).await.map(|()| Some(task.key.clone()));
    conclude(&account, &cx, ("rtm_deleteNote", &task.name), edits, done).await
}

/// The note, and the task it belongs to.
async fn with_note(account: &Account, wanted: &str) -> Result<(Task, Note), Stop> {
    for need in [Need::Anything, Need::Now] {
        account.sync(need).await?;
        let book = account.book();
        let found = book.tasks().find_map(|task| {
            let note = task.notes.iter().find(|note| note.id == wanted)?;
            Some((task.clone(), note.clone()))
        });
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(Fault::new(&reason::TASKS_NO_SUCH_NOTE).fact("wanted", echo(wanted)).into())
}
