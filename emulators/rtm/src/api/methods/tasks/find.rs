//! Which tasks there are, and which have changed.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::api::api_error::ApiResult;
use crate::api::methods::MethodRequest;
use crate::api::methods::shared::{series_element, time};
use crate::api::response::Element;
use crate::api::signature::opaque;
use crate::assumed;
use crate::language::filter::Filter;
use crate::language::phrase;
use crate::language::phrase::DateContext;
use crate::state::account::{Account, Id, Series, Task};

/// The parameters of a task search.
struct TaskQuery {
    list: Option<Id>,
    filters: Vec<Filter>,
    since: Option<Timestamp>,
    with_archived: bool,
    context: DateContext,
}

pub(super) fn get_list(request: &mut MethodRequest<'_>) -> ApiResult<Vec<Element>> {
    let question = parse_query(request)?;
    let account = &request.state.account;
    let mut found: BTreeMap<Id, Vec<Element>> = BTreeMap::new();
    for series in account.series.values().filter(|series| question.matches_series(account, series)) {
        let wanted = |task: &Task| task.deleted.is_none() && question.matches_task(account, series, task);
        if series.tasks.iter().any(wanted) {
            let element = series_element(account, series, request.version, wanted);
            found.entry(series.list).or_default().push(element);
        }
    }
    let mut gone = question.since.map(|since| deleted_since(account, since)).unwrap_or_default();
    let plain = question.list.filter(|id| account.lists.get(id).is_some_and(|list| list.filter.is_none()));
    gone.retain(|list, _| plain.is_none_or(|plain| plain == *list));
    let asked = plain.filter(|_| question.filters.is_empty());
    let lists: BTreeSet<Id> = found.keys().chain(gone.keys()).copied().chain(asked).collect();
    let lists = lists.into_iter().map(|id| {
        let mut element = Element::new("list").with("id", id.to_string());
        if let Some(since) = question.since {
            element = element.with("current", time(since));
        }
        if let Some(deleted) = gone.remove(&id) {
            element = element.child(Element::new("deleted").many("taskseries", deleted));
        }
        element.many("taskseries", found.remove(&id).unwrap_or_default())
    });
    let lists = lists.collect();
    let newest = account.series.values().map(|series| series.modified).max().unwrap_or_default();
    let rev = opaque(&["rev", &newest.to_string(), &account.series.len().to_string()]);
    Ok(vec![Element::new("tasks").with("rev", rev).many("list", lists)])
}

fn parse_query(request: &MethodRequest<'_>) -> ApiResult<TaskQuery> {
    let context = request.context();
    let mut filters = vec![];
    let mut read = |text: &str| -> ApiResult<()> {
        filters.push(Filter::read(text, &context).ok_or(assumed::BAD_FILTER)?);
        Ok(())
    };
    let list = match request.params.given("list_id") {
        None => None,
        Some(_) => {
            let list = request.list("list_id")?;
            list.filter.as_deref().map(&mut read).transpose()?;
            Some(list.id)
        }
    };
    let is_smart = !filters.is_empty();
    if let Some(text) = request.params.given("filter") {
        filters.push(Filter::read(text, &context).ok_or(assumed::BAD_FILTER)?);
    }
    let since = match request.params.given("last_sync") {
        None => None,
        Some(text) => Some(phrase::sent(text, &context).ok_or(assumed::BAD_TIME)?.at),
    };
    let asked = filters.iter().any(Filter::includes_archived);
    let with_archived = filters.is_empty() || asked || (list.is_some() && !is_smart);
    Ok(TaskQuery { list: list.filter(|_| !is_smart), filters, since, with_archived, context })
}

impl TaskQuery {
    fn matches_series(&self, account: &Account, series: &Series) -> bool {
        let list = account.lists.get(&series.list);
        self.list.is_none_or(|list| list == series.list)
            && self.since.is_none_or(|since| series.modified >= since)
            && list.is_some_and(|list| !list.is_deleted && (self.with_archived || !list.is_archived))
    }

    fn matches_task(&self, account: &Account, series: &Series, task: &Task) -> bool {
        self.filters.iter().all(|filter| filter.matches(account, series, task, &self.context))
    }
}

/// The tasks that were deleted, moved away or taken back since then, by list.
fn deleted_since(account: &Account, since: Timestamp) -> BTreeMap<Id, Vec<Element>> {
    let deleted = account.series.values().flat_map(|series| {
        let task = |task: &Task| Some((series.list, series.id, task.id, task.deleted?));
        series.tasks.iter().filter_map(task).collect::<Vec<_>>()
    });
    let is_here = |list: Id, series: Id, task: Id| {
        let series = account.series.get(&series).filter(|series| series.list == list);
        series.and_then(|series| series.task(task)).is_some_and(|task| task.deleted.is_none())
    };
    let left = account.gone.iter().map(|gone| (gone.list, gone.series, gone.task, gone.at));
    let mut tasks: BTreeMap<(Id, Id, Id), Timestamp> = BTreeMap::new();
    for (list, series, task, at) in deleted.chain(left).filter(|(.., at)| *at >= since) {
        if !is_here(list, series, task) {
            tasks.insert((list, series, task), at);
        }
    }
    let mut lists: BTreeMap<Id, BTreeMap<Id, Vec<Element>>> = BTreeMap::new();
    for ((list, series, task), at) in tasks {
        let element = Element::new("task").with("id", task.to_string()).with("deleted", time(at));
        lists.entry(list).or_default().entry(series).or_default().push(element);
    }
    let element = |(id, tasks): (Id, Vec<Element>)| {
        Element::new("taskseries").with("id", id.to_string()).many("task", tasks)
    };
    lists.into_iter().map(|(list, series)| (list, series.into_iter().map(element).collect())).collect()
}
