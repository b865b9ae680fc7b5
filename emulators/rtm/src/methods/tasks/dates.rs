use jiff::ToSpan;

use super::super::Request;
use crate::account::When;
use crate::answer::{Element, Version};
use crate::assumed;
use crate::phrase;
use crate::recur;
use crate::refusal::{self, Outcome, Refusal};

/// The date of a parameter; none when it is to be cleared.
fn given(request: &Request<'_>, name: &str, has_time: &str, refusal: Refusal) -> Outcome<Option<When>> {
    let Some(text) = request.params.given(name) else { return Ok(None) };
    let context = request.context();
    if request.params.is_set("parse") {
        return phrase::when(text, &context).map(Some).ok_or(refusal);
    }
    let when = phrase::sent(text, &context).ok_or(refusal.clone())?;
    if request.params.is_set(has_time) {
        return Ok(Some(When { timed: true, ..when }));
    }
    When::day(when.date(&context.zone), &context.zone).map(Some).ok_or(refusal)
}

pub(super) fn set_due(request: &mut Request<'_>) -> Outcome<Vec<Element>> {
    let path = request.path()?;
    let due = given(request, "due", "has_due_time", assumed::BAD_DUE)?;
    let mut start = request.task(path)?.start;
    if matches!((start, due), (Some(start), Some(due)) if due.at < start.at) {
        match request.version {
            Version::One => start = due,
            Version::Two => return Err(refusal::START_AFTER_DUE),
        }
    }
    request.change_task(path, |task| {
        task.due = due;
        task.start = start;
    })?;
    request.changed(path)
}

pub(super) fn set_start(request: &mut Request<'_>) -> Outcome<Vec<Element>> {
    let path = request.path()?;
    let start = given(request, "start", "has_start_time", assumed::BAD_START)?;
    let due = request.task(path)?.due;
    if matches!((start, due), (Some(start), Some(due)) if due.at < start.at) {
        return Err(refusal::START_AFTER_DUE);
    }
    request.change_task(path, |task| task.start = start)?;
    request.changed(path)
}

/// Overdue and undated tasks are put to today, others a day later.
pub(super) fn postpone(request: &mut Request<'_>) -> Outcome<Vec<Element>> {
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
            When { at, timed: true }
        }
        _ => When::day(date, &zone).ok_or(assumed::BAD_DUE)?,
    };
    request.change_task(path, |task| {
        task.due = Some(later);
        task.postponed += 1;
        task.start = task.start.map(|start| if start.at > later.at { later } else { start });
    })?;
    request.changed(path)
}

pub(super) fn set_recurrence(request: &mut Request<'_>) -> Outcome<Vec<Element>> {
    let path = request.path()?;
    let rule = match request.params.given("repeat") {
        None => None,
        Some(text) => Some(recur::read(text, &request.context()).ok_or(assumed::BAD_RECURRENCE)?),
    };
    let account = &request.state.account;
    let has_family = request.series(path.series)?.parent.is_some() || !account.children(path.task).is_empty();
    if rule.is_some() && has_family {
        return Err(refusal::REPEATING_FAMILY);
    }
    request.change_series(path, |series| series.rule = rule)?;
    request.changed(path)
}
