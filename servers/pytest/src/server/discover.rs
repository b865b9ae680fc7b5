use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_sdk::{Context, ToolOutcome};
use serde_json::json;

use super::{PytestState, WorkerUse};
use crate::arguments::{DEFAULT_TIMEOUT, Detail, Discover, choose};
use crate::report::render;
use crate::run::classify::RunVerdict;
use crate::run::plan;

pub(super) async fn discover(
    state: Arc<PytestState>,
    given: Discover,
    cx: Context,
) -> Result<ToolOutcome, Fault> {
    let project = choose(&state.project, given.project.as_deref())?;
    given.check(&project, state.settings.most_seconds)?;
    let interpreter = match state.interpreter(&project).await {
        Ok(interpreter) => interpreter,
        Err(missing) => return state.not_started(missing),
    };
    let limit =
        Duration::from_secs(given.timeout.unwrap_or(DEFAULT_TIMEOUT.min(state.settings.most_seconds)));
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
