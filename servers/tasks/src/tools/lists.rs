use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_server::{Context, Toolbox};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{ArchiveList, CreateList, GetLists, OneList, RenameList};
use super::{Answer, Said, changing, tool};
use crate::account::{Account, Need};
use crate::edit::Edits;
use crate::filter;
use crate::lookup;
use crate::stop::Stop;
use crate::view::ListView;

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(
            tool(
                account,
                ("rtm_getLists", "Get lists", "Gets the lists, with how many open tasks each has."),
                get,
            )?
            .read_only(),
        )
        .tool(changing(
            account,
            ("rtm_createList", "Add a list", "Adds a list; with a filter, a smart list."),
            create,
        )?)
        .tool(
            changing(account, ("rtm_renameList", "Rename a list", "Gives a list another name."), rename)?
                .idempotent(),
        )
        .tool(
            changing(
                account,
                ("rtm_archiveList", "Archive a list", "Puts a list into the archive, or takes it out again."),
                archive,
            )?
            .idempotent(),
        )
        .tool(
            changing(
                account,
                ("rtm_deleteList", "Delete a list", "Deletes a list; its tasks go to the Inbox."),
                delete,
            )?
            .destructive(),
        ))
}

/// Lists that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Lists {
    pub(crate) lists: Vec<ListView>,
    pub(crate) count: usize,
}

/// A list that was changed.
#[derive(Debug, Serialize, JsonSchema)]
struct ListChanged {
    /// The list as it is now; not there when it was deleted.
    list: Option<ListView>,
    /// The number of this change, as `rtm_history` shows it.
    change: Option<u64>,
    /// Whether the service's answer was lost, and the change was found by looking again.
    read_back: bool,
}

async fn get(account: Arc<Account>, given: GetLists, _cx: Context) -> Answer<Lists> {
    account.sync(Need::NowWithLists).await?;
    let book = account.book();
    let shown = book.lists().into_iter().filter(|list| given.archived || !list.archived);
    let lists: Vec<ListView> = shown.map(|list| ListView::of(list, &book)).collect();
    let text = lists.iter().map(ListView::line).collect::<Vec<_>>().join("\n");
    Ok(Said { object: Lists { count: lists.len(), lists }, text })
}

async fn create(account: Arc<Account>, given: CreateList, cx: Context) -> Answer<ListChanged> {
    if is_reserved(&given.name) {
        return Err(Fault::new(&reason::TASKS_INVALID_LIST_NAME).into());
    }
    if let Some(text) = &given.filter {
        filter::parse(text)?;
    }
    let mut edits = Edits::new(&account);
    let done = edits.add_list(&given.name, given.filter.as_deref()).await;
    conclude(&account, &cx, ("rtm_createList", &given.name), edits, done.map(Some))
}

async fn rename(account: Arc<Account>, given: RenameList, cx: Context) -> Answer<ListChanged> {
    if is_reserved(&given.name) {
        return Err(Fault::new(&reason::TASKS_INVALID_LIST_NAME).into());
    }
    let list = lookup::list(&account, &given.list).await?;
    let mut edits = Edits::new(&account);
    let done = edits.rename_list(&list.id, &given.name).await;
    conclude(&account, &cx, ("rtm_renameList", &given.list), edits, done.map(|()| Some(list.id)))
}

async fn archive(account: Arc<Account>, given: ArchiveList, cx: Context) -> Answer<ListChanged> {
    let list = lookup::list(&account, &given.list).await?;
    let mut edits = Edits::new(&account);
    let done = if list.archived == given.archived {
        Ok(())
    } else {
        edits.archive_list(&list.id, given.archived).await
    };
    conclude(&account, &cx, ("rtm_archiveList", &given.list), edits, done.map(|()| Some(list.id)))
}

async fn delete(account: Arc<Account>, given: OneList, cx: Context) -> Answer<ListChanged> {
    let list = lookup::list(&account, &given.list).await?;
    let mut edits = Edits::new(&account);
    let done = edits.delete_list(&list.id).await;
    conclude(&account, &cx, ("rtm_deleteList", &given.list), edits, done.map(|()| None))
}

fn is_reserved(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    name.is_empty() || name == "inbox" || name == "sent"
}

fn conclude(
    account: &Account,
    cx: &Context,
    (tool, about): (&'static str, &str),
    edits: Edits<'_>,
    done: Result<Option<String>, Stop>,
) -> Answer<ListChanged> {
    let change = account.journal.write(&cx.client().caller.to_string(), tool, about, edits.steps);
    let id = done?;
    let book = account.book();
    let list = id.and_then(|id| book.list(&id).map(|list| ListView::of(list, &book)));
    let mut text = list.as_ref().map_or("done".to_owned(), ListView::line);
    if let Some(change) = change {
        text.push_str(&format!("\n(change {change}; rtm_undo takes it back)"));
    }
    Ok(Said { object: ListChanged { list, change, read_back: edits.read_back }, text })
}
