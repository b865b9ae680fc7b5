use crate::api::api_error::ApiResult;
use crate::api::methods::shared::{TaskPath, note_element};
use crate::api::methods::{ApiMethod, MethodRequest};
use crate::api::response::Element;
use crate::assumed::BAD_NOTE;
use crate::state::account::{Id, Note};

pub(in crate::api::methods) const METHODS: &[ApiMethod] = &[
    ApiMethod::adds("rtm.tasks.notes.add", "Adds a note to a task.", add).with(&[
        "list_id",
        "taskseries_id",
        "task_id",
        "note_title",
        "note_text",
    ]),
    ApiMethod::changes("rtm.tasks.notes.delete", "Deletes a note.", delete).with(&["note_id"]).deletes(),
    ApiMethod::changes("rtm.tasks.notes.edit", "Changes a note.", edit).with(&[
        "note_id",
        "note_title",
        "note_text",
    ]),
];

fn texts(request: &MethodRequest<'_>) -> (String, String) {
    let text = |name: &str| request.params.get(name).unwrap_or_default().to_owned();
    (text("note_title"), text("note_text"))
}

fn add(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let path = request.path()?;
    let (title, text) = texts(request);
    if title.is_empty() && text.is_empty() {
        return Err(BAD_NOTE);
    }
    let now = request.now;
    let note = Note { id: request.account().fresh(), created: now, modified: now, title, text };
    let answer = note_element(&note);
    request.change_series(path, |series| series.notes.push(note))?;
    Ok(vec![answer])
}

/// The note of `note_id`, and where it is.
fn find(request: &MethodRequest<'_>) -> ApiResult<(TaskPath, Id)> {
    let id = request.id("note_id").ok_or(BAD_NOTE)?;
    let series = request.state.account.series.values().filter(|series| series.is_alive());
    let series =
        series.into_iter().find(|series| series.notes.iter().any(|note| note.id == id)).ok_or(BAD_NOTE)?;
    let task = series.tasks.first().map(|task| task.id).unwrap_or_default();
    Ok((TaskPath { series: series.id, task }, id))
}

fn delete(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let (path, id) = find(request)?;
    request.change_series(path, |series| series.notes.retain(|note| note.id != id))?;
    Ok(vec![])
}

fn edit(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let (path, id) = find(request)?;
    let (title, text) = texts(request);
    let now = request.now;
    request.change_series(path, |series| {
        for note in series.notes.iter_mut().filter(|note| note.id == id) {
            (note.title, note.text, note.modified) = (title.clone(), text.clone(), now);
        }
    })?;
    let note = request.series(path.series)?.notes.iter().find(|note| note.id == id).ok_or(BAD_NOTE)?;
    Ok(vec![note_element(note)])
}
