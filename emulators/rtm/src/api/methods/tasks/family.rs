//! Which list a task is in, and which task it is part of.

use super::complete::path_of;
use crate::api::api_error;
use crate::api::api_error::ApiResult;
use crate::api::methods::MethodRequest;
use crate::api::methods::shared::TaskPath;
use crate::api::response::Element;
use crate::state::account::Id;

/// How many levels of tasks there can be.
const LEVELS: usize = 3;

/// A task others can be part of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parent {
    pub(super) list: Id,
    pub(super) task: Id,
}

/// The task `parent_task_id` names, if this task, or a new one, can be part of it.
pub(super) fn parent(
    request: &MethodRequest<'_>,
    child: Option<TaskPath>,
    child_repeats: bool,
) -> ApiResult<Parent> {
    let account = &request.state.account;
    if !account.is_pro {
        return Err(api_error::NEEDS_PRO);
    }
    let id = request.id("parent_task_id").ok_or(api_error::BAD_PARENT)?;
    let path = path_of(account, id)?;
    let series = request.series(path.series)?;
    if child.is_some_and(|child| child.task == id || is_below(request, id, child.task)) {
        return Err(api_error::OWN_PARENT);
    }
    if child_repeats || series.rule.is_some() {
        return Err(api_error::REPEATING_FAMILY);
    }
    let below = child.map_or(0, |child| account.height(child.task));
    if account.depth(id) + 1 + below >= LEVELS {
        return Err(api_error::TOO_DEEP);
    }
    Ok(Parent { list: series.list, task: id })
}

/// Whether a task is part of another, at any level.
fn is_below(request: &MethodRequest<'_>, task: Id, above: Id) -> bool {
    let account = &request.state.account;
    let parent = |task: Id| account.task(task).and_then(|(series, _)| series.parent);
    std::iter::successors(parent(task), |task| parent(*task)).take(10).any(|id| id == above)
}

pub(super) fn set_parent(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let repeats = request.series(path.series)?.rule.is_some();
    let parent = match request.params.given("parent_task_id") {
        None if !request.state.account.is_pro => return Err(api_error::NEEDS_PRO),
        None => None,
        Some(_) => Some(parent(request, Some(path), repeats)?),
    };
    request.change_series(path, |series| series.parent = parent.map(|parent| parent.task))?;
    if let Some(parent) = parent {
        let now = request.now;
        request.account().relocate(path.series, parent.list, now);
    }
    request.changed(path)
}

pub(super) fn move_to(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let from = request.list("from_list_id")?.id;
    let to = request.list("to_list_id")?;
    if !to.holds_tasks() {
        return Err(api_error::BAD_LIST);
    }
    let to = to.id;
    let path = request.path_in("from_list_id")?;
    if from != to {
        // A sub-task that leaves its parent's list leaves its parent.
        request.change_series(path, |series| series.parent = None)?;
    }
    let now = request.now;
    request.account().relocate(path.series, to, now);
    request.changed(path)
}
