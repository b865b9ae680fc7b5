use super::family;
use crate::api::api_error;
use crate::api::api_error::ApiResult;
use crate::api::methods::MethodRequest;
use crate::api::methods::shared::TaskPath;
use crate::api::response::{Element, Version};
use crate::assumed::{self, LONGEST_NAME};
use crate::language::smart_add;
use crate::language::smart_add::SmartAddTask;
use crate::state::account::{Id, Note, Priority, Series, Task};

pub(super) fn add(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let list = match request.params.given("list_id") {
        None => None,
        Some(_) => Some(request.list("list_id").and_then(|list| require_list(list.holds_tasks(), list.id))?),
    };
    let added = parse_task(request)?;
    if added.name.is_empty() || added.name.chars().count() > LONGEST_NAME {
        return Err(api_error::BAD_TASK_NAME);
    }
    if matches!((added.start, added.due), (Some(start), Some(due)) if start.at > due.at) {
        return Err(api_error::START_AFTER_DUE);
    }
    let parent = match request.params.given("parent_task_id") {
        Some(_) if request.version == Version::Two => {
            Some(family::parent(request, None, added.rule.is_some())?)
        }
        _ => None,
    };
    let given_to = match request.params.given("give_to") {
        None => None,
        Some(_) => {
            let contact = request.id("give_to").filter(|id| request.state.account.contacts.contains_key(id));
            Some(contact.ok_or(assumed::BAD_CONTACT_ID)?)
        }
    };
    let home =
        parent.map(|parent| parent.list).or(list).or(added.list).unwrap_or(request.state.account.inbox);
    let mut series = new_series(request, added, home);
    series.parent = parent.map(|parent| parent.task);
    series.participants.extend(given_to);
    let task = series.tasks.first().map(|task| task.id).unwrap_or_default();
    let path = TaskPath { series: series.id, task };
    request.account().insert(series);
    request.changed(path)
}

fn require_list(holds: bool, id: Id) -> ApiResult<Id> {
    if holds { Ok(id) } else { Err(api_error::BAD_LIST) }
}

/// The name, or all that a smart add says.
fn parse_task(request: &MethodRequest<'_>) -> ApiResult<SmartAddTask> {
    let name = request.required("name", api_error::BAD_TASK_NAME)?;
    if request.params.is_set("parse") {
        return Ok(smart_add::read(name, &request.state.account, &request.context()));
    }
    Ok(SmartAddTask { name: name.to_owned(), ..SmartAddTask::default() })
}

fn new_series(request: &mut MethodRequest<'_>, added: SmartAddTask, list: Id) -> Series {
    let now = request.now;
    let external_id = request.params.get("external_id").unwrap_or_default().to_owned();
    let account = request.account();
    let (id, task) = (account.fresh(), account.fresh());
    let mut note =
        |text: String| Note { id: account.fresh(), created: now, modified: now, title: String::new(), text };
    let notes = added.note.map(&mut note).into_iter().collect();
    let task = Task {
        due: added.due,
        start: added.start,
        priority: added.priority.unwrap_or(Priority::None),
        estimate: added.estimate,
        ..Task::new(task, now)
    };
    Series {
        id,
        list,
        created: now,
        modified: now,
        name: added.name,
        source: "api".to_owned(),
        url: added.url,
        location: added.location,
        parent: None,
        tags: added.tags,
        participants: added.participants,
        notes,
        rule: added.rule,
        successor: None,
        external_id,
        tasks: vec![task],
    }
}
