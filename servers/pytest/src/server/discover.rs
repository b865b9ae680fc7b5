use std::sync::Arc;
use std::time::Duration;

use failwell_fault::Fault;
use failwell_server::{Context, ToolOutcome};
use serde_json::json;

use super::{Desk, Warmth};
use crate::arguments::{DEFAULT_TIMEOUT, Detail, Discover, choose};
use crate::classify::Verdict;
use crate::{plan, tell};

pub(super) async fn discover(desk: Arc<Desk>, given: Discover, cx: Context) -> Result<ToolOutcome, Fault> {
    let project = choose(&desk.project, given.project.as_deref())?;
    given.check(&project, desk.settings.most_seconds)?;
    let interpreter = match desk.interpreter(&project).await {
        Ok(interpreter) => interpreter,
        Err(missing) => return desk.not_started(missing),
    };
    let limit = Duration::from_secs(given.timeout.unwrap_or(DEFAULT_TIMEOUT.min(desk.settings.most_seconds)));
    let arguments = plan::discover(&given, &project, desk.folder.path());
    let order = desk.order(&project, &interpreter, arguments, [("items", json!(true))], limit);
    let warmth = if given.cold == Some(true) { Warmth::Cold } else { Warmth::Any };
    let ran = match desk.perform(&order, warmth, &cx).await {
        Ok(ran) => ran,
        Err(fault) => return desk.launch_failed(fault, &project),
    };
    let kept = desk.keep(ran, &order, &cx);
    match kept.1 {
        Verdict::Ordinary { .. } => tell::discovered(&kept.0, &interpreter, given.budget),
        _ => desk.failure(&kept, &order, tell::budget(given.budget, Detail::Failures)),
    }
}
