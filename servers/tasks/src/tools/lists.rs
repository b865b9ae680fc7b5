use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{Context, Tool, Toolbox, TypedOutcome, with_state};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{ArchiveList, CreateList, GetLists, ListArgument, RenameList};
use super::{JournaledChange, ToolResult, changing, journal, reading};
use crate::account::edit::Edits;
use crate::account::{Account, Freshness};
use crate::filter;
use crate::lookup;
use crate::reason;
use crate::tool_failure::ToolFailure;
use crate::view::ListView;

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(
            Tool::typed_outcome(
                "rtm_getLists",
                "Gets the lists, with the number of open tasks in each.",
                with_state(account, reading(get)),
            )?
            .titled("Get lists")
            .read_only(),
        )
        .tool(
            Tool::typed_outcome(
                "rtm_createList",
                "Adds a list; with a filter, a smart list.",
                with_state(account, changing(create)),
            )?
            .titled("Add a list"),
        )
        .tool(
            Tool::typed_outcome("rtm_renameList", "Renames a list.", with_state(account, changing(rename)))?
                .titled("Rename a list")
                .idempotent(),
        )
        .tool(
            Tool::typed_outcome(
                "rtm_archiveList",
                "Archives a list, or restores it from the archive.",
                with_state(account, changing(archive)),
            )?
            .titled("Archive a list")
            .idempotent(),
        )
        .tool(
            Tool::typed_outcome(
                "rtm_deleteList",
                "Deletes a list. Its tasks move to the Inbox.",
                with_state(account, changing(delete)),
            )?
            .titled("Delete a list")
            .destructive(),
        ))
}

/// Lists that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListsResult {
    pub(crate) lists: Vec<ListView>,
    pub(crate) count: usize,
}

/// A list that was changed.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangedList {
    /// The list after the change; absent if it was deleted.
    list: Option<ListView>,
    /// The number of this change, as `rtm_history` shows it.
    change: Option<u64>,
    /// Whether the service's response was lost, and the change was confirmed by a later read.
    read_back: bool,
}

async fn get(account: Arc<Account>, given: GetLists, _cx: Context) -> ToolResult<ListsResult> {
    account.sync(Freshness::NowWithLists).await?;
    let cache = account.cache();
    let shown = cache.lists().into_iter().filter(|list| given.archived || !list.archived);
    let lists: Vec<ListView> = shown.map(|list| ListView::new(list, &cache)).collect();
    let text = lists.iter().map(ListView::line).collect::<Vec<_>>().join("\n");
    Ok(TypedOutcome::new(ListsResult { count: lists.len(), lists }, text))
}

async fn create(account: Arc<Account>, given: CreateList, cx: Context) -> ToolResult<ChangedList> {
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

async fn rename(account: Arc<Account>, given: RenameList, cx: Context) -> ToolResult<ChangedList> {
    if is_reserved(&given.name) {
        return Err(Fault::new(&reason::TASKS_INVALID_LIST_NAME).into());
    }
    let list = lookup::list(&account, &given.list).await?;
    let mut edits = Edits::new(&account);
    let done = edits.rename_list(&list.id, &given.name).await;
    conclude(&account, &cx, ("rtm_renameList", &given.list), edits, done.map(|()| Some(list.id)))
}

async fn archive(account: Arc<Account>, given: ArchiveList, cx: Context) -> ToolResult<ChangedList> {
    let list = lookup::list(&account, &given.list).await?;
    let mut edits = Edits::new(&account);
    let done = if list.archived == given.archived {
        Ok(())
    } else {
        edits.archive_list(&list.id, given.archived).await
    };
    conclude(&account, &cx, ("rtm_archiveList", &given.list), edits, done.map(|()| Some(list.id)))
}

async fn delete(account: Arc<Account>, given: ListArgument, cx: Context) -> ToolResult<ChangedList> {
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
    call: (&'static str, &str),
    edits: Edits<'_>,
    done: Result<Option<String>, ToolFailure>,
) -> ToolResult<ChangedList> {
    let JournaledChange { number: change, read_back, note } = journal(account, cx, call, edits);
    let id = done?;
    let cache = account.cache();
    let list = id.and_then(|id| cache.list(&id).map(|list| ListView::new(list, &cache)));
    let text = list.as_ref().map_or("done".to_owned(), ListView::line) + &note;
    Ok(TypedOutcome::new(ChangedList { list, change, read_back }, text))
}
