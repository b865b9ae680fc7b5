use super::shared::list_element;
use super::{ApiMethod, MethodRequest};
use crate::api::api_error;
use crate::api::api_error::ApiResult;
use crate::api::response::Element;
use crate::assumed::{self, LONGEST_NAME};
use crate::language::filter::Filter;
use crate::state::account::{Id, List, same};

pub(super) const METHODS: &[ApiMethod] = &[
    ApiMethod::adds("rtm.lists.add", "Adds a list, or a smart list when there is a filter.", add)
        .with(&["name", "filter?"]),
    ApiMethod::changes("rtm.lists.archive", "Archives a list.", archive).with(&["list_id"]),
    ApiMethod::changes("rtm.lists.delete", "Deletes a list. Its tasks move to the Inbox.", delete)
        .with(&["list_id"])
        .deletes(),
    ApiMethod::reads("rtm.lists.getList", "Lists the lists.", get_list),
    ApiMethod::adds(
        "rtm.lists.setDefaultList",
        "Sets the list new tasks go to in the service's own apps.",
        set_default,
    )
    .with(&["list_id?"]),
    ApiMethod::changes("rtm.lists.setName", "Renames a list.", set_name).with(&["list_id", "name"]),
    ApiMethod::changes("rtm.lists.unarchive", "Takes a list out of the archive.", unarchive)
        .with(&["list_id"]),
];

/// A name a list can have.
fn name(request: &MethodRequest<'_>) -> ApiResult<String> {
    let name = request.required("name", api_error::BAD_LIST_NAME)?;
    let reserved = same(name, "Inbox") || same(name, "Sent");
    let valid = !reserved && name.chars().count() <= LONGEST_NAME;
    if valid { Ok(name.to_owned()) } else { Err(api_error::BAD_LIST_NAME) }
}

/// A list that is not one of the account's own.
fn unlocked(request: &MethodRequest<'_>) -> ApiResult<Id> {
    let list = request.list("list_id")?;
    if list.is_locked { Err(api_error::BAD_LIST) } else { Ok(list.id) }
}

fn answer(request: &MethodRequest<'_>, id: Id) -> ApiResult<Vec<Element>> {
    let list = request.state.account.lists.get(&id).ok_or(api_error::BAD_LIST)?;
    Ok(vec![list_element(list, request.version)])
}

fn add(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let name = name(request)?;
    let filter = request.params.given("filter").map(str::to_owned);
    if let Some(filter) = &filter {
        Filter::read(filter, &request.context()).ok_or(assumed::BAD_FILTER)?;
    }
    let account = request.account();
    let list = List { filter, ..List::named(account.fresh(), &name) };
    let id = list.id;
    account.insert_list(list);
    answer(request, id)
}

fn archive(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let id = unlocked(request)?;
    request.account().change_list(id, |list| list.is_archived = true).ok_or(api_error::BAD_LIST)?;
    answer(request, id)
}

fn unarchive(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let id = unlocked(request)?;
    request.account().change_list(id, |list| list.is_archived = false).ok_or(api_error::BAD_LIST)?;
    answer(request, id)
}

fn delete(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let id = unlocked(request)?;
    let now = request.now;
    let account = request.account();
    account.change_list(id, |list| list.is_deleted = true).ok_or(api_error::BAD_LIST)?;
    let inbox = account.inbox;
    let inside: Vec<Id> = account
        .series
        .values()
        .filter(|series| series.list == id && series.is_alive())
        .map(|one| one.id)
        .collect();
    for series in inside {
        account.relocate(series, inbox, now);
    }
    answer(request, id)
}

fn get_list(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let version = request.version;
    let mut lists: Vec<&List> = request.account().lists.values().filter(|list| !list.is_deleted).collect();
    lists.sort_by_key(|list| (list.position, list.id));
    let lists = lists.into_iter().map(|list| list_element(list, version)).collect();
    Ok(vec![Element::new("lists").many("list", lists)])
}

fn set_default(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let list = match request.params.given("list_id") {
        None => None,
        Some(_) => Some(request.list("list_id")?.id),
    };
    request.account().default_list = list;
    Ok(vec![])
}

fn set_name(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let list = request.list("list_id")?;
    if list.is_locked {
        return Err(api_error::BAD_LIST_NAME);
    }
    let (id, name) = (list.id, name(request)?);
    request.account().change_list(id, |list| list.name = name).ok_or(api_error::BAD_LIST)?;
    answer(request, id)
}
