use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{Context, ToolOutcome};
use serde_json::json;

use super::{PytestState, WorkerUse};
use crate::arguments::{Detail, Discover, time_limit};
use crate::report::render;
use crate::run::classify::RunVerdict;
use crate::run::plan;

pub(super) async fn discover(
    state: Arc<PytestState>,
    given: Discover,
    cx: Context,
) -> Result<ToolOutcome, Fault> {
    let (project, interpreter) = match state.prepare(&given).await {
        Ok(prepared) => prepared,
        Err(answer) => return answer,
    };
    let limit = time_limit(given.timeout, state.settings.most_seconds);
    let arguments = plan::discover(&given, &project, state.folder.path());
    let request = state.request(&project, &interpreter, arguments, [("items", json!(true))], limit);
    let warmth = if given.cold == Some(true) { WorkerUse::Cold } else { WorkerUse::Any };
    let outcome = match state.perform(&request, warmth, &cx).await {
        Ok(outcome) => outcome,
        Err(fault) => return state.launch_failed(fault, &project),
    };
    let outcome = state.keep(outcome, &request, &cx);
    match outcome.1 {
        RunVerdict::Completed { .. } => render::discovered(&outcome.0, &interpreter, given.budget),
        _ => state.failure(&outcome, &request, render::budget(given.budget, Detail::Failures)),
    }
}
