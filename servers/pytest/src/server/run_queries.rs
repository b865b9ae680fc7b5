use std::sync::Arc;

use failwell_fault::{Echo, Fault, OrFault};
use failwell_sdk::{Address, Context, Json, ResourceContents, ToolOutcome, unknown_resource};
use serde_json::{Value, json};

use super::PytestState;
use crate::arguments::{GetFailure, ListRuns};
use crate::reason;
use crate::report::answer::{fenced, summary};
use crate::report::failure::round;
use crate::report::store::{MOST_RUNS, StoredRun};

pub(super) async fn get_failure(
    state: Arc<PytestState>,
    given: GetFailure,
    cx: Context,
) -> Result<ToolOutcome, Fault> {
    let unknown = |wanted: &str| {
        Fault::new(&reason::PYTEST_UNKNOWN_RUN)
            .fact("wanted", Echo::of_caller(wanted))
            .fact("limit", MOST_RUNS)
    };
    let caller = cx.client().caller.to_string();
    let run = state.store.find(&given.run_id, &caller).ok_or_else(|| unknown(&given.run_id))?;
    if let Some(error) = run.report.collection_errors.iter().find(|error| error.file == given.node_id) {
        let object = json!({
            "run_id": run.id, "node_id": error.file, "outcome": "error", "phase": "collect", "message": error.message,
            "error_type": error.error_type, "line": error.line, "traceback": error.traceback,
        });
        return failure_outcome(&object, &error.traceback);
    }
    // The last result counts, because a test may run repeatedly.
    let test = run.report.tests.iter().rfind(|test| test.id == given.node_id);
    let test = test.ok_or_else(|| unknown(&given.node_id))?;
    let story = test.story.as_deref().cloned().unwrap_or_default();
    let sections: Vec<Value> =
        story.sections.iter().map(|(name, text)| json!({"name": name, "text": text})).collect();
    let object = json!({
        "run_id": run.id, "node_id": test.id, "outcome": test.outcome.word(), "phase": story.phase, "place": story.place,
        "duration": round(test.duration), "message": story.message, "traceback": story.traceback, "also": story.also,
        "sections": sections, "subtests": story.subtests, "subtests_failed": story.subfailed,
    });
    failure_outcome(&object, &story.traceback)
}

fn failure_outcome(object: &Value, traceback: &str) -> Result<ToolOutcome, Fault> {
    let text = if traceback.is_empty() { "there is no traceback".to_owned() } else { fenced(traceback) };
    Ok(ToolOutcome::text(text).structured(Json::of(object).or_fault(&reason::SERVER_BUG)?))
}

pub(super) async fn list_runs(
    state: Arc<PytestState>,
    _given: ListRuns,
    cx: Context,
) -> Result<ToolOutcome, Fault> {
    let runs = state.store.by_caller(&cx.client().caller.to_string());
    let rows: Vec<Value> = runs.iter().map(|run| described(run)).collect();
    let lines: Vec<String> = runs
        .iter()
        .map(|run| {
            format!(
                "{} {}: {} tests, {} s ago",
                run.id,
                run.status,
                run.report.tests.len(),
                run.ended.elapsed().as_secs()
            )
        })
        .collect();
    let text = if lines.is_empty() { "no runs yet".to_owned() } else { lines.join("\n") };
    let structured = Json::of(&json!({"runs": rows})).or_fault(&reason::SERVER_BUG)?;
    Ok(ToolOutcome::text(text).structured(structured))
}

fn described(run: &StoredRun) -> Value {
    json!({
        "run_id": run.id, "status": run.status, "project": run.project, "mode": run.mode,
        "summary": summary(&run.report, run.took.as_secs_f64()), "seconds_ago": run.ended.elapsed().as_secs(),
        "log": StoredRun::log_uri(&run.id),
    })
}

/// The complete output of a run, for the caller that started it.
pub(super) fn log(
    state: &PytestState,
    address: &Address,
    cx: &Context,
) -> Result<Vec<ResourceContents>, Fault> {
    let id = address.parts.get("run").map(String::as_str).unwrap_or_default();
    let run = state.store.find(id, &cx.client().caller.to_string());
    let run = run.ok_or_else(|| unknown_resource(&address.uri))?;
    Ok(vec![ResourceContents::text(address.uri.clone(), "text/plain", run.log())])
}
