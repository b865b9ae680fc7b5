use std::sync::Arc;

use failwell_fault::{Effect, Fault};
use failwell_sdk::{Context, Toolbox};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{History, Undo};
use super::{ToolAnswer, ToolResult, changing, tool};
use crate::account::change::Change;
use crate::account::edit::{deletion, list_deletion, note_deletion};
use crate::account::journal::{JournalEntry, UndoStep};
use crate::account::{Account, Invalidation};
use crate::dates::iso;
use crate::reason;
use crate::service::error::with_effect;
use crate::tool_failure::ToolFailure;

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(changing(account, ("rtm_undo", "Undo", "Takes back your last changes, newest first: what was added is deleted, everything else is put back as it was."), undo)?.destructive())
        .tool(tool(account, ("rtm_history", "History", "Shows your last changes through this server, newest first, and whether they can be undone."), history)?.read_only().closed_world()))
}

/// One change.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangeView {
    number: u64,
    tool: &'static str,
    /// What it was about.
    about: String,
    /// When, in UTC.
    when: String,
    undone: bool,
    undoable: bool,
}

/// Changes that were taken back.
#[derive(Debug, Serialize, JsonSchema)]
struct UndoResult {
    undone: Vec<ChangeView>,
    count: usize,
}

/// Changes that were made.
#[derive(Debug, Serialize, JsonSchema)]
struct HistoryResult {
    changes: Vec<ChangeView>,
    count: usize,
}

async fn undo(account: Arc<Account>, given: Undo, cx: Context) -> ToolResult<UndoResult> {
    let caller = cx.client().caller.to_string();
    let wanted = given.count.unwrap_or(1);
    let entries: Vec<JournalEntry> =
        account.journal.by_caller(&caller).into_iter().filter(|entry| !entry.undone).take(wanted).collect();
    if entries.is_empty() {
        return Err(Fault::new(&reason::TASKS_NOTHING_TO_UNDO).into());
    }
    let mut undone = Vec::new();
    for entry in &entries {
        let taken_back = take_back(&account, entry).await;
        // The service does not report every undo as a change.
        account.invalidate(Invalidation::Everything).await;
        if let Err(fault) = taken_back {
            let effect = match (undone.is_empty(), fault.effect()) {
                (false, Effect::None) => Effect::Partial,
                (_, effect) => effect,
            };
            return Err(ToolFailure::Fault(with_effect(fault, effect)));
        }
        undone.push(view(&JournalEntry { undone: true, ..entry.clone() }));
    }
    let lines: Vec<String> = undone.iter().map(line).collect();
    Ok(ToolAnswer {
        text: format!("taken back:\n{}", lines.join("\n")),
        object: UndoResult { count: undone.len(), undone },
    })
}

/// Undoes one change, its last step first. The remaining steps stay in the journal.
async fn take_back(account: &Arc<Account>, entry: &JournalEntry) -> Result<(), Fault> {
    let mut left = entry.steps.clone();
    let mut some_done = false;
    while let Some(step) = left.pop() {
        if let Err(fault) = one_back(account, entry.number, &step).await {
            left.push(step);
            account.journal.left(entry.number, left);
            let partial = some_done && fault.effect() == Effect::None;
            return Err(if partial { with_effect(fault, Effect::Partial) } else { fault });
        }
        some_done = true;
    }
    account.journal.left(entry.number, Vec::new());
    Ok(())
}

async fn one_back(account: &Arc<Account>, number: u64, step: &UndoStep) -> Result<(), Fault> {
    let change = match step {
        UndoStep::Transaction(id) => {
            Change::new("rtm.transactions.undo", vec![("transaction_id", id.clone())])
        }
        UndoStep::DeleteTask { key, list } => {
            // The task may have been moved meanwhile.
            let list = account.cache().task(key).map_or(list.clone(), |task| task.list.clone());
            deletion(list, key.clone(), "")
        }
        UndoStep::DeleteNote(note) => note_deletion(note),
        UndoStep::DeleteList(list) => list_deletion(list),
        UndoStep::Never(why) => {
            let fault = Fault::new(&reason::TASKS_NOT_UNDOABLE);
            return Err(fault.fact("number", number).fact("why", *why));
        }
    };
    account.make(change).await.map(|_| ())
}

async fn history(account: Arc<Account>, given: History, cx: Context) -> ToolResult<HistoryResult> {
    let entries = account.journal.by_caller(&cx.client().caller.to_string());
    let changes: Vec<ChangeView> = entries.iter().take(given.limit.unwrap_or(20)).map(view).collect();
    let lines: Vec<String> = changes.iter().map(line).collect();
    let text = if lines.is_empty() { "nothing was changed yet".to_owned() } else { lines.join("\n") };
    Ok(ToolAnswer { text, object: HistoryResult { count: changes.len(), changes } })
}

fn view(entry: &JournalEntry) -> ChangeView {
    ChangeView {
        number: entry.number,
        tool: entry.tool,
        about: entry.about.clone(),
        when: iso(entry.when),
        undone: entry.undone,
        undoable: !entry.undone && !entry.steps.iter().any(|step| matches!(step, UndoStep::Never(_))),
    }
}

fn line(change: &ChangeView) -> String {
    let state = match (change.undone, change.undoable) {
        (true, _) => " (undone)",
        (false, true) => "",
        (false, false) => " (cannot be undone)",
    };
    format!("{}: {} {}{state}", change.number, change.tool, change.about)
}
