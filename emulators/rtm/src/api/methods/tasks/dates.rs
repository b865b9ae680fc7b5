use jiff::ToSpan;

use crate::api::api_error;
use crate::api::api_error::{ApiError, ApiResult};
use crate::api::methods::MethodRequest;
use crate::api::response::{Element, Version};
use crate::assumed;
use crate::language::phrase;
use crate::language::recurrence;
use crate::state::account::TaskDate;

/// The date of a parameter; none when it is to be cleared.
fn given(
    request: &MethodRequest<'_>,
    name: &str,
    has_time: &str,
    refusal: ApiError,
) -> ApiResult<Option<TaskDate>> {
    let Some(text) = request.params.given(name) else { return Ok(None) };
    let context = request.context();
    if request.params.is_set("parse") {
        return phrase::when(text, &context).map(Some).ok_or(refusal);
    }
    let when = phrase::sent(text, &context).ok_or(refusal.clone())?;
    if request.params.is_set(has_time) {
        return Ok(Some(TaskDate { timed: true, ..when }));
    }
    TaskDate::day(when.date(&context.zone), &context.zone).map(Some).ok_or(refusal)
}

pub(super) fn set_due(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let due = given(request, "due", "has_due_time", assumed::BAD_DUE)?;
    let mut start = request.task(path)?.start;
    if matches!((start, due), (Some(start), Some(due)) if due.at < start.at) {
        match request.version {
            Version::One => start = due,
            Version::Two => return Err(api_error::START_AFTER_DUE),
        }
    }
    request.change_task(path, |task| {
        task.due = due;
        task.start = start;
    })?;
    request.changed(path)
}

pub(super) fn set_start(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let start = given(request, "start", "has_start_time", assumed::BAD_START)?;
    let due = request.task(path)?.due;
    if matches!((start, due), (Some(start), Some(due)) if due.at < start.at) {
        return Err(api_error::START_AFTER_DUE);
    }
    request.change_task(path, |task| task.start = start)?;
    request.changed(path)
}

/// Overdue and undated tasks are put to today, others a day later.
pub(super) fn postpone(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let context = request.context();
    let (zone, today) = (context.zone.clone(), context.today());
    let due = request.task(path)?.due;
    let date = match due {
        Some(due) if due.date(&zone) >= today => {
            due.date(&zone).checked_add(1.day()).map_err(|_| assumed::BAD_DUE)?
        }
        _ => today,
    };
    let later = match due {
        Some(due) if due.timed => {
            let local = date.to_datetime(zone.to_datetime(due.at).time());
            let at = zone.to_ambiguous_zoned(local).compatible().map_err(|_| assumed::BAD_DUE)?.timestamp();
            TaskDate { at, timed: true }
        }
        _ => TaskDate::day(date, &zone).ok_or(assumed::BAD_DUE)?,
    };
    request.change_task(path, |task| {
        task.due = Some(later);
        task.postponed += 1;
        task.start = task.start.map(|start| if start.at > later.at { later } else { start });
    })?;
    request.changed(path)
}

pub(super) fn set_recurrence(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let rule = match request.params.given("repeat") {
        None => None,
        Some(text) => Some(recurrence::read(text, &request.context()).ok_or(assumed::BAD_RECURRENCE)?),
    };
    let account = &request.state.account;
    let has_family = request.series(path.series)?.parent.is_some() || !account.children(path.task).is_empty();
    if rule.is_some() && has_family {
        return Err(api_error::REPEATING_FAMILY);
    }
    request.change_series(path, |series| series.rule = rule)?;
    request.changed(path)
}
