//! Completing, reopening and deleting, with what that means for sub-tasks and recurrence.

use jiff::Timestamp;
use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::api::api_error;
use crate::api::api_error::ApiResult;
use crate::api::methods::MethodRequest;
use crate::api::methods::shared::{TaskPath, series_element};
use crate::api::response::Element;
use crate::language::recurrence;
use crate::language::recurrence::Rule;
use crate::state::account::{Account, Id, Series, Task, TaskDate};

pub(super) fn complete(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let now = request.now;
    let before: Vec<Id> = request.series(path.series)?.tasks.iter().map(|task| task.id).collect();
    let was_open = request.task(path)?.completed.is_none();
    for child in family(&request.state.account, path.task) {
        let open = |task: &mut Task| task.completed = task.completed.or(Some(now));
        request.account().change_task(child.series, child.task, now, open);
    }
    request.change_task(path, |task| task.completed = Some(now))?;
    let successor = if was_open { make_next(request.account(), path.series, path.task, now) } else { None };
    let mut answer = request.changed_with(path, |task| task.id == path.task || !before.contains(&task.id))?;
    if let Some(series) = successor.and_then(|id| request.state.account.series.get(&id)) {
        let element = series_element(&request.state.account, series, request.version, |_| true);
        let own = request.series(path.series)?;
        let own = series_element(&request.state.account, own, request.version, |task| task.id == path.task);
        let list = Element::new("list").with("id", series.list.to_string());
        answer = vec![list.many("taskseries", vec![own, element])];
    }
    Ok(answer)
}

pub(super) fn uncomplete(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    request.change_task(path, |task| task.completed = None)?;
    request.changed(path)
}

pub(super) fn delete(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let now = request.now;
    for child in family(&request.state.account, path.task) {
        request.account().change_task(child.series, child.task, now, |task| task.deleted = Some(now));
    }
    request.change_task(path, |task| task.deleted = Some(now))?;
    request.changed(path)
}

/// All sub-tasks of a task that are left, at every level.
fn family(account: &Account, task: Id) -> Vec<TaskPath> {
    let mut found = vec![];
    let mut ahead = vec![task];
    while let Some(parent) = ahead.pop() {
        for series in account.children(parent).into_iter().filter_map(|id| account.series.get(&id)) {
            for child in series.tasks.iter().filter(|task| task.deleted.is_none()) {
                found.push(TaskPath { series: series.id, task: child.id });
                ahead.push(child.id);
            }
        }
    }
    found
}

/// Makes the next task of a recurrence: in the same series (`every`), or in one of its own (`after`), whose id it returns.
fn make_next(account: &mut Account, series: Id, task: Id, now: Timestamp) -> Option<Id> {
    let zone = account.zone();
    let old = account.series.get(&series)?.clone();
    let done = old.task(task)?.clone();
    let rule = old.rule.clone()?;
    let today = zone.to_datetime(now).date();
    if rule.every {
        let is_last = old.tasks.last().is_some_and(|last| last.id == task);
        let made = u32::try_from(old.tasks.len()).unwrap_or(u32::MAX);
        if !is_last || rule.count.is_some_and(|count| made >= count) {
            return None;
        }
        let next = next_task(account.fresh(), &done, next_every(&rule, &done, today, &zone)?, now, &zone)?;
        account.change(series, now, |series| series.tasks.push(next))?;
        return None;
    }
    let followed = old.successor.and_then(|id| account.series.get(&id)).is_some_and(Series::is_alive);
    if followed || rule.count == Some(1) {
        return None;
    }
    let next = next_task(account.fresh(), &done, recurrence::next(&rule, today)?, now, &zone)?;
    let id = account.fresh();
    let rule = Rule { count: rule.count.map(|count| count - 1), ..rule };
    account.change(series, now, |series| series.successor = Some(id))?;
    let successor = Series {
        id,
        created: now,
        modified: now,
        rule: Some(rule),
        successor: None,
        external_id: String::new(),
        tasks: vec![next],
        ..old
    };
    account.insert(successor);
    Some(id)
}

/// The rule's next day after the due date that is not before today.
fn next_every(rule: &Rule, done: &Task, today: Date, zone: &TimeZone) -> Option<Date> {
    let mut date = recurrence::next(rule, done.due.map_or(today, |due| due.date(zone)))?;
    // Daily for a hundred years; what is further behind stays there.
    for _ in 0..36_500 {
        if date >= today {
            break;
        }
        date = recurrence::next(rule, date)?;
    }
    Some(date)
}

/// The same task on another day. Its start keeps its distance.
fn next_task(id: Id, done: &Task, date: Date, now: Timestamp, zone: &TimeZone) -> Option<Task> {
    let on = |when: TaskDate, date: Date| {
        let time = zone.to_datetime(when.at).time();
        let at = zone.to_ambiguous_zoned(date.to_datetime(time)).compatible().ok()?.timestamp();
        Some(TaskDate { at, ..when })
    };
    let due = match done.due {
        Some(due) if due.timed => on(due, date)?,
        _ => TaskDate::day(date, zone)?,
    };
    let start = match (done.start, done.due) {
        (Some(start), Some(old)) => {
            let ahead = (old.date(zone) - start.date(zone)).get_days();
            on(start, date.checked_sub(i64::from(ahead).days()).ok()?)
        }
        _ => None,
    };
    Some(Task {
        due: Some(due),
        start,
        priority: done.priority,
        estimate: done.estimate.clone(),
        ..Task::new(id, now)
    })
}

/// The path of a task that must be there.
pub(super) fn path_of(account: &Account, task: Id) -> ApiResult<TaskPath> {
    let (series, task) = account.task(task).ok_or(api_error::BAD_PARENT)?;
    Ok(TaskPath { series: series.id, task: task.id })
}
