use std::sync::Arc;

use failwell_fault::{Effect, Fault, Kind};
use failwell_sdk::{Context, Tool, Toolbox, TypedOutcome, with_state};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{History, Undo};
use super::{ToolResult, changing, reading};
use crate::account::call_log::CallLog;
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
        .tool(Tool::typed_outcome("rtm_undo", "Undoes your last changes, newest first: added items are deleted, all others get their earlier values.", with_state(account, changing(undo)))?.titled("Undo").destructive())
        .tool(Tool::typed_outcome("rtm_history", "Shows your last changes through this server, newest first, and whether they can be undone.", with_state(account, reading(history)))?.titled("History").read_only().closed_world()))
}

/// One change.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangeView {
    number: u64,
    tool: &'static str,
    /// The subject of the change.
    about: String,
    /// The time of the change, in UTC.
    when: String,
    undone: bool,
    undoable: bool,
}

/// Changes that were taken back.
#[derive(Debug, Serialize, JsonSchema)]
struct UndoResult {
    undone: Vec<ChangeView>,
    count: usize,
    /// Newer changes that cannot be undone, and were skipped.
    passed_over: Vec<ChangeView>,
}

/// Changes that were made.
#[derive(Debug, Serialize, JsonSchema)]
struct HistoryResult {
    changes: Vec<ChangeView>,
    count: usize,
}

async fn undo(account: Arc<Account>, given: Undo, cx: Context) -> ToolResult<UndoResult> {
    let _turn = account.undoing.lock().await;
    let caller = cx.client().caller.to_string();
    let wanted = given.count.unwrap_or(1);
    let earlier = account.journal.take_unconfirmed_undo(&caller, wanted);
    if !earlier.is_empty() {
        return Ok(report(earlier.iter().map(view).collect(), Vec::new()));
    }
    let (mut undone, mut passed_over) = (Vec::new(), Vec::new());
    for entry in account.journal.by_caller(&caller).into_iter().filter(|entry| !entry.undone) {
        if undone.len() == wanted {
            break;
        }
        if !entry.is_undoable() {
            passed_over.push(entry);
            continue;
        }
        let taken_back = take_back(&account, &entry).await;
        // The service does not report every undo as a change.
        account.invalidate(Invalidation::Everything).await;
        match taken_back {
            Ok(StepsDone::Some) => undone.push(JournalEntry { undone: true, ..entry }),
            Ok(StepsDone::None) => {
                passed_over.push(JournalEntry { steps: vec![UndoStep::Never(FORGOTTEN)], ..entry });
            }
            Err(fault) => {
                let effect = match (undone.is_empty(), fault.effect()) {
                    (false, Effect::None) => Effect::Partial,
                    (_, effect) => effect,
                };
                return Err(ToolFailure::Fault(with_effect(fault, effect)));
            }
        }
    }
    if CallLog::current().is_some_and(|call| call.is_abandoned()) {
        let numbers = undone.iter().map(|entry| entry.number).collect();
        account.journal.note_unconfirmed_undo(&caller, wanted, numbers);
    }
    match (undone.is_empty(), passed_over.first()) {
        (true, Some(newest)) => Err(not_undoable(newest).into()),
        (true, None) => Err(Fault::new(&reason::TASKS_NOTHING_TO_UNDO).into()),
        _ => Ok(report(undone.iter().map(view).collect(), passed_over.iter().map(view).collect())),
    }
}

fn report(undone: Vec<ChangeView>, passed_over: Vec<ChangeView>) -> TypedOutcome<UndoResult> {
    let lines = |changes: &[ChangeView]| changes.iter().map(line).collect::<Vec<_>>().join("\n");
    let mut text = format!("taken back:\n{}", lines(&undone));
    if !passed_over.is_empty() {
        text.push_str(&format!("\npassed over:\n{}", lines(&passed_over)));
    }
    TypedOutcome::new(UndoResult { count: undone.len(), undone, passed_over }, text)
}

/// The fault of a change that cannot be undone. It names the tool that does the opposite.
fn not_undoable(entry: &JournalEntry) -> Fault {
    let revert = match entry.tool {
        "rtm_completeTask" => "rtm_reopenTask",
        "rtm_reopenTask" => "rtm_completeTask",
        "rtm_deleteTask" => "rtm_createTask",
        "rtm_deleteNote" => "rtm_addNote",
        "rtm_deleteList" => "rtm_createList",
        "rtm_createTask" => "rtm_deleteTask",
        "rtm_addNote" => "rtm_deleteNote",
        "rtm_createList" => "rtm_deleteList",
        "rtm_batch" => "the tools for its operations",
        "rtm_postponeTask" => "rtm_updateTask",
        same => same,
    };
    let why = entry.obstacle().unwrap_or(FORGOTTEN);
    Fault::new(&reason::TASKS_NOT_UNDOABLE)
        .fact("number", entry.number)
        .fact("why", why)
        .fact("revert", revert)
}

/// Why a step cannot be undone that the service does not know any more.
const FORGOTTEN: &str = "the service no longer knows it";

/// Whether any step of a change was undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepsDone {
    Some,
    None,
}

/// Undoes one change, its last step first. Steps that cannot be undone are passed over. After a failure, the
/// remaining steps stay in the journal.
async fn take_back(account: &Arc<Account>, entry: &JournalEntry) -> Result<StepsDone, Fault> {
    let mut left = entry.steps.clone();
    let (mut done, mut never) = (StepsDone::None, Vec::new());
    while let Some(step) = left.pop() {
        if step.obstacle().is_some() {
            never.push(step);
            continue;
        }
        match one_back(account, &step).await {
            Ok(()) => done = StepsDone::Some,
            // It was undone or deleted by other means, so no later attempt can succeed.
            Err(fault) if fault.kind() == Kind::NotFound => never.push(UndoStep::Never(FORGOTTEN)),
            Err(fault) => {
                left.push(step);
                account.journal.left(entry.number, left);
                let partial = done == StepsDone::Some && fault.effect() == Effect::None;
                return Err(if partial { with_effect(fault, Effect::Partial) } else { fault });
            }
        }
    }
    account.journal.left(entry.number, if done == StepsDone::Some { Vec::new() } else { never });
    Ok(done)
}

async fn one_back(account: &Arc<Account>, step: &UndoStep) -> Result<(), Fault> {
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
        UndoStep::Opposite { method, params } => Change::new(method, params.clone()),
        UndoStep::Never(_) => return Ok(()),
    };
    account.make(change).await.map(|_| ())
}

async fn history(account: Arc<Account>, given: History, cx: Context) -> ToolResult<HistoryResult> {
    let entries = account.journal.by_caller(&cx.client().caller.to_string());
    let changes: Vec<ChangeView> = entries.iter().take(given.limit.unwrap_or(20)).map(view).collect();
    let lines: Vec<String> = changes.iter().map(line).collect();
    let text = if lines.is_empty() { "nothing was changed yet".to_owned() } else { lines.join("\n") };
    Ok(TypedOutcome::new(HistoryResult { count: changes.len(), changes }, text))
}

fn view(entry: &JournalEntry) -> ChangeView {
    ChangeView {
        number: entry.number,
        tool: entry.tool,
        about: entry.about.clone(),
        when: iso(entry.when),
        undone: entry.undone,
        undoable: entry.is_undoable(),
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
