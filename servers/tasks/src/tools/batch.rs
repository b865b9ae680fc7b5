use std::sync::Arc;

use failwell_fault::{Effect, Fault};
use failwell_sdk::{Context, FailureSummary, Tool, Toolbox, TypedOutcome, with_state};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::arguments::{Batch, Operation};
use super::tasks::{SimpleChange, do_create, do_move, do_simple, do_tag};
use super::{ToolResult, changing, notes, shown, undo_advice, update};
use crate::account::Account;
use crate::account::edit::Edits;
use crate::model::TaskKey;
use crate::service::error::with_effect;
use crate::tool_failure::ToolFailure;
use crate::view::TaskView;

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox.tool(Tool::typed_outcome("rtm_batch", "Makes several changes in order, as one change for rtm_undo: create, update, complete, reopen, delete, postpone, move, tag, note. Stops at the first failure, unless keep_going is set. The service accepts about one change per second.", with_state(account, changing(batch)))?.titled("Several changes").destructive()))
}

/// The results, one per item.
#[derive(Debug, Serialize, JsonSchema)]
struct BatchResult {
    results: Vec<ItemOutcome>,
    done: usize,
    failed: usize,
    /// Operations that were not tried, because an earlier one failed.
    skipped: usize,
    /// The number of the whole change, as `rtm_history` shows it.
    change: Option<u64>,
}

/// The result of one item.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Outcome")]
struct ItemOutcome {
    /// Its place in `operations`.
    index: usize,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<TaskView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<FailureSummary>,
}

async fn batch(account: Arc<Account>, given: Batch, cx: Context) -> ToolResult<BatchResult> {
    let total = given.operations.len();
    let (mut results, mut steps, mut first) = (Vec::new(), Vec::new(), None);
    for (index, operation) in given.operations.iter().enumerate() {
        if cx.is_cancelled() {
            break;
        }
        let mut edits = Edits::new(&account);
        let done = perform(&account, &mut edits, operation).await;
        steps.append(&mut edits.steps);
        match done {
            Ok(key) => {
                let task = match key {
                    Some(key) => shown(&account, &key).await?,
                    None => None,
                };
                results.push(ItemOutcome { index, ok: true, task, error: None });
            }
            Err(stop) => {
                let fault = stop.fault();
                results.push(ItemOutcome {
                    index,
                    ok: false,
                    task: None,
                    error: Some(FailureSummary::from(&fault)),
                });
                first.get_or_insert(fault);
                if !given.keep_going {
                    break;
                }
            }
        }
        cx.progress((index + 1) as f64, Some(total as f64), None).await;
    }
    let about = format!("{total} operations");
    let change = account.journal.write(&cx.client().caller.to_string(), "rtm_batch", &about, steps.clone());
    let done = results.iter().filter(|it| it.ok).count();
    let failed = results.len() - done;
    let skipped = total - results.len();
    let text = summarize(&results, skipped, change.map(|change| undo_advice(change, &steps)));
    let results = BatchResult { results, done, failed, skipped, change };
    match first {
        None => Ok(TypedOutcome::new(results, text)),
        Some(fault) => {
            let effect =
                if done > 0 && fault.effect() == Effect::None { Effect::Partial } else { fault.effect() };
            Err(ToolFailure::Shown(with_effect(fault, effect), text, json!(results)))
        }
    }
}

/// A batch never elicits: a client that repeats the call with its answer would repeat the finished operations
/// too.
async fn perform(
    account: &Account,
    edits: &mut Edits<'_>,
    operation: &Operation,
) -> Result<Option<TaskKey>, ToolFailure> {
    match operation {
        Operation::Create(given) => do_create(account, edits, given, None).await,
        Operation::Update(given) => update::do_update(account, edits, given, None).await,
        Operation::Complete(given) => do_simple(account, edits, given, SimpleChange::Complete, None).await,
        Operation::Reopen(given) => do_simple(account, edits, given, SimpleChange::Reopen, None).await,
        Operation::Delete(given) => do_simple(account, edits, given, SimpleChange::Delete, None).await,
        Operation::Postpone(given) => do_simple(account, edits, given, SimpleChange::Postpone, None).await,
        Operation::Move(given) => do_move(account, edits, given, None).await,
        Operation::Tag(given) => do_tag(account, edits, given, None).await,
        Operation::Note(given) => notes::do_add(account, edits, given, None).await,
    }
}

fn summarize(results: &[ItemOutcome], skipped: usize, advice: Option<String>) -> String {
    let mut lines: Vec<String> = results
        .iter()
        .map(|it| match (&it.error, &it.task) {
            (Some(error), _) => format!("{}: failed: {}", it.index, error.line()),
            (None, Some(task)) => format!("{}: {}", it.index, task.line()),
            (None, None) => format!("{}: done", it.index),
        })
        .collect();
    if skipped > 0 {
        lines.push(format!("{skipped} were not tried"));
    }
    lines.extend(advice.map(|advice| advice.trim_start().to_owned()));
    lines.join("\n")
}
