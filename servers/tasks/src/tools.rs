//! The tools. Each returns a short text, and the same as an object with a schema.

pub(crate) mod arguments;
mod auth;
mod batch;
mod extra;
mod find;
mod lists;
mod notes;
mod tasks;
mod undo;
mod update;

use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{Context, Toolbox, TypedOutcome, Work, run_to_completion};
use schemars::JsonSchema;
use serde::Serialize;

use crate::account::Account;
use crate::account::call_log::CallLog;
use crate::account::edit::Edits;
use crate::account::journal::UndoStep;
use crate::lookup;
use crate::model::TaskKey;
use crate::tool_failure::ToolFailure;
use crate::view::TaskView;

pub(crate) use find::{TaskQuery, query_tasks};

pub(crate) type ToolResult<O> = Result<TypedOutcome<O>, ToolFailure>;

/// A task that was changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangedTask {
    /// The task as it is now; not there when it was deleted.
    pub(crate) task: Option<TaskView>,
    /// The number of this change, as `rtm_history` shows it.
    pub(crate) change: Option<u64>,
    /// Whether the service's response was lost, and the change was confirmed by a later read.
    pub(crate) read_back: bool,
}

pub(crate) fn all(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    let toolbox = auth::tools(toolbox, account)?;
    let toolbox = find::tools(toolbox, account)?;
    let toolbox = tasks::tools(toolbox, account)?;
    let toolbox = update::tools(toolbox, account)?;
    let toolbox = notes::tools(toolbox, account)?;
    let toolbox = lists::tools(toolbox, account)?;
    let toolbox = batch::tools(toolbox, account)?;
    let toolbox = undo::tools(toolbox, account)?;
    extra::tools(toolbox, account)
}

/// A handler whose failures may show more than a fault.
fn reading<A, O, F, W>(handler: F) -> impl Fn(Arc<Account>, A, Context) -> Work<TypedOutcome<O>>
where
    O: Serialize + Send + 'static,
    F: Fn(Arc<Account>, A, Context) -> W + Send + Sync + 'static,
    W: Future<Output = ToolResult<O>> + Send + 'static,
{
    move |account, given, cx| {
        let work = handler(account, given, cx);
        Box::pin(async move { work.await.or_else(ToolFailure::outcome) })
    }
}

/// A handler that changes the account. It runs to its end even if its caller cancels.
fn changing<A, O, F, W>(handler: F) -> impl Fn(Arc<Account>, A, Context) -> Work<TypedOutcome<O>>
where
    A: Send + 'static,
    O: Serialize + Send + 'static,
    F: Fn(Arc<Account>, A, Context) -> W + Send + Sync + Copy + 'static,
    W: Future<Output = ToolResult<O>> + Send + 'static,
{
    reading(move |account: Arc<Account>, given, cx: Context| {
        let call = CallLog::new(account.clone(), cx.client().caller.to_string());
        let listener = call.listener();
        async move {
            let outcome = run_to_completion(call.serve(handler(account, given, cx))).await;
            listener.hear();
            outcome
        }
    })
}

/// What a change says about its undo.
fn undo_advice(number: u64, steps: &[UndoStep]) -> String {
    match steps.iter().find_map(UndoStep::obstacle) {
        Some(why) => format!("\n(change {number}; it cannot be undone: {why})"),
        None => format!("\n(change {number}; rtm_undo takes it back)"),
    }
}

/// A change of the account in the journal.
struct JournaledChange {
    /// Its number, if anything changed.
    number: Option<u64>,
    read_back: bool,
    /// What the answer says about it: how to undo it, and whether it had to be read back.
    note: String,
}

/// Adds the changes to the journal, even if a later one failed.
fn journal(
    account: &Account,
    cx: &Context,
    (tool, about): (&'static str, &str),
    edits: Edits<'_>,
) -> JournaledChange {
    let steps = edits.steps.clone();
    let number = account.journal.write(&cx.client().caller.to_string(), tool, about, edits.steps);
    let mut note = number.map_or_else(String::new, |number| undo_advice(number, &steps));
    if edits.read_back {
        note.push_str("\n(the service's answer was lost; the change was found by looking again)");
    }
    JournaledChange { number, read_back: edits.read_back, note }
}

/// Adds the changes to the journal, and returns the current task.
async fn conclude(
    account: &Arc<Account>,
    cx: &Context,
    call: (&'static str, &str),
    edits: Edits<'_>,
    done: Result<Option<TaskKey>, ToolFailure>,
) -> ToolResult<ChangedTask> {
    let JournaledChange { number: change, read_back, note } = journal(account, cx, call, edits);
    let task = match done? {
        Some(key) => shown(account, &key).await?,
        None => None,
    };
    let text = task.as_ref().map_or("done".to_owned(), TaskView::line) + &note;
    Ok(TypedOutcome::new(ChangedTask { task, change, read_back }, text))
}

/// The current task. The change was made, so a task that cannot be read is left out.
async fn shown(account: &Account, key: &TaskKey) -> Result<Option<TaskView>, Fault> {
    let Ok(zone) = account.zone().await else { return Ok(None) };
    let task = account.cache().task(key).cloned();
    Ok(task.map(|task| lookup::views_in(account, &[task], &zone)).and_then(|mut views| views.pop()))
}
