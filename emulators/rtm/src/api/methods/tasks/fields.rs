use crate::api::api_error;
use crate::api::api_error::ApiResult;
use crate::api::methods::MethodRequest;
use crate::api::response::Element;
use crate::assumed::{self, LONGEST_NAME};
use crate::language::phrase;
use crate::state::account::Priority;

/// Tags between commas, in lower case, each once.
fn tags(request: &MethodRequest<'_>) -> Vec<String> {
    let mut tags: Vec<String> = vec![];
    for tag in request.params.get("tags").unwrap_or_default().split(',') {
        let tag = tag.trim().to_lowercase();
        if !tag.is_empty() && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

pub(super) fn add_tags(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let (path, tags) = (request.path()?, tags(request));
    request.change_series(path, |series| {
        for tag in tags {
            if !series.tags.contains(&tag) {
                series.tags.push(tag);
            }
        }
    })?;
    request.changed(path)
}

pub(super) fn remove_tags(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let (path, tags) = (request.path()?, tags(request));
    request.change_series(path, |series| series.tags.retain(|tag| !tags.contains(tag)))?;
    request.changed(path)
}

pub(super) fn set_tags(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let (path, tags) = (request.path()?, tags(request));
    request.change_series(path, |series| series.tags = tags)?;
    request.changed(path)
}

pub(super) fn set_name(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let name = request.required("name", api_error::BAD_TASK_NAME)?.to_owned();
    if name.chars().count() > LONGEST_NAME {
        return Err(api_error::BAD_TASK_NAME);
    }
    request.change_series(path, |series| series.name = name)?;
    request.changed(path)
}

pub(super) fn set_url(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let url = request.params.get("url").unwrap_or_default().trim().to_owned();
    request.change_series(path, |series| series.url = url)?;
    request.changed(path)
}

pub(super) fn set_location(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let location = match request.params.given("location_id") {
        None => None,
        Some(_) => {
            let known =
                request.id("location_id").filter(|id| request.state.account.locations.contains_key(id));
            Some(known.ok_or(assumed::BAD_LOCATION)?)
        }
    };
    request.change_series(path, |series| series.location = location)?;
    request.changed(path)
}

pub(super) fn set_estimate(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let estimate = request.params.get("estimate").unwrap_or_default().trim().to_owned();
    if !estimate.is_empty() && phrase::seconds(&estimate).is_none() {
        return Err(assumed::BAD_ESTIMATE);
    }
    request.change_task(path, |task| task.estimate = estimate)?;
    request.changed(path)
}

/// Tasks of a series have one priority.
fn prioritise(
    request: &mut MethodRequest<'_>,
    priority: impl Fn(Priority) -> Priority,
) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let priority = priority(request.task(path)?.priority);
    request
        .change_series(path, |series| series.tasks.iter_mut().for_each(|task| task.priority = priority))?;
    request.changed(path)
}

pub(super) fn set_priority(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    request.path()?;
    let priority = Priority::read(request.params.get("priority").unwrap_or_default());
    let priority = priority.ok_or(assumed::BAD_PRIORITY)?;
    prioritise(request, |_| priority)
}

pub(super) fn move_priority(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    request.path()?;
    match request.params.get("direction") {
        Some("up") => prioritise(request, Priority::higher),
        Some("down") => prioritise(request, Priority::lower),
        _ => Err(assumed::BAD_PRIORITY),
    }
}
