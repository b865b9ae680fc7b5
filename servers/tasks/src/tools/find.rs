use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use failwell_fault::Fault;
use failwell_sdk::{Context, Tool, Toolbox, TypedOutcome, with_state};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{FindTasks, GetTasks, Sort, TaskArgument};
use super::{ToolResult, reading};
use crate::account::cache::TaskCache;
use crate::account::{Account, Freshness};
use crate::filter::{self, Filter, MatchContext, Operator};
use crate::lookup::{self, TaskScope};
use crate::model::{Task, TaskUpdates};
use crate::reason;
use crate::tool_failure::{ToolFailure, invalid};
use crate::view::TaskView;

/// The default page size.
const PAGE: usize = 50;
/// Maximum number of tasks in a result of `rtm_getTasks`. Further ones are counted.
const MOST: usize = 500;

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(Tool::typed_outcome("rtm_getTasks", "Gets the tasks that match a filter, evaluated by Remember The Milk itself. rtm_findTasks is faster, has pages and searches text.", with_state(account, reading(get_tasks)))?.titled("Get tasks").read_only())
        .tool(Tool::typed_outcome("rtm_findTasks", "Finds tasks by filter and text in a local copy of the account, page by page. Dates are in the account's time zone.", with_state(account, reading(find_tasks)))?.titled("Find tasks").read_only())
        .tool(Tool::typed_outcome("rtm_getTask", "Shows one task with its notes, by id or name.", with_state(account, reading(get_task)))?.titled("Show a task").read_only()))
}

/// Tasks that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FindTasksResult {
    pub(crate) tasks: Vec<TaskView>,
    /// The number of tasks in this result.
    pub(crate) count: usize,
    /// The number of tasks that match.
    pub(crate) total: usize,
    /// The `cursor` of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
    /// The time zone of dates without a zone.
    pub(crate) time_zone: String,
    /// `known` when the answer came from stored tasks, `service` when Remember The Milk filtered.
    pub(crate) source: &'static str,
    /// Effects of the filter that may be unintended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hints: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct TaskQuery<'a> {
    pub(crate) filter: Option<&'a str>,
    pub(crate) text: Option<&'a str>,
    pub(crate) completed: bool,
    pub(crate) sort: Sort,
    pub(crate) limit: usize,
    pub(crate) start: usize,
}

/// Finds tasks in the cache. A filter that only the service can evaluate is sent to it.
pub(crate) async fn query_tasks(
    account: &Account,
    wanted: &TaskQuery<'_>,
    need: Freshness,
) -> Result<FindTasksResult, Fault> {
    let text = wanted.filter.unwrap_or_default();
    let parsed = filter::parse(text)?;
    account.sync(need).await?;
    let now = account.now().await?;
    let hints = if text.is_empty() { Vec::new() } else { filter::lint(&parsed, &now) };
    // This query leaves out completed tasks by default, so that hint would be wrong.
    let mut hints: Vec<String> =
        hints.into_iter().filter(|hint| !hint.starts_with("without status")).collect();
    hints.extend(archive_hint(&parsed, &account.cache()));
    let wanted = TaskQuery { completed: wanted.completed || says_status(&parsed), ..*wanted };
    let (page, total, source) = match find_in_cache(account, &parsed, &now, &wanted) {
        Some((page, total)) => (page, total, "known"),
        None => {
            let found = ask_service(account, text).await?;
            let (page, total) = page(found.iter().collect(), &wanted);
            (page, total, "service")
        }
    };
    let end = wanted.start + page.len();
    let next_cursor = (end < total && !page.is_empty()).then(|| format!("{end}"));
    let found = FindTasksResult::new(account, (&page, total), &now, source, hints);
    Ok(FindTasksResult { next_cursor, ..found })
}

impl FindTasksResult {
    /// The result that consists of this page, out of this total.
    fn new(
        account: &Account,
        (page, total): (&[Task], usize),
        now: &jiff::Zoned,
        source: &'static str,
        hints: Vec<String>,
    ) -> FindTasksResult {
        let zone = now.time_zone();
        FindTasksResult {
            count: page.len(),
            tasks: lookup::views_in(account, page, zone),
            total,
            next_cursor: None,
            time_zone: zone.iana_name().unwrap_or("UTC").to_owned(),
            source,
            hints,
        }
    }
}

/// The requested page of these tasks, and their total number.
fn page(mut tasks: Vec<&Task>, wanted: &TaskQuery<'_>) -> (Vec<Task>, usize) {
    if !wanted.completed {
        tasks.retain(|task| task.completed.is_none());
    }
    if let Some(words) = wanted.text {
        tasks.retain(|task| contains_text(task, words));
    }
    sort(&mut tasks, wanted.sort);
    let limit = if wanted.limit == 0 { PAGE } else { wanted.limit };
    let total = tasks.len();
    (tasks.into_iter().skip(wanted.start).take(limit).cloned().collect(), total)
}

/// The matching tasks. `None` if only the service can decide.
fn find_in_cache(
    account: &Account,
    filter: &Filter,
    now: &jiff::Zoned,
    wanted: &TaskQuery<'_>,
) -> Option<(Vec<Task>, usize)> {
    let cache = account.cache();
    let context = MatchContext { cache: &cache, now };
    // Only the service can evaluate the filter of a smart list.
    let of_smart_list = filter.terms().into_iter().any(|term| {
        term.operator == Operator::List
            && cache
                .lists()
                .iter()
                .any(|list| list.smart && list.name.to_lowercase() == term.value.to_lowercase())
    });
    if of_smart_list {
        return None;
    }
    let put_away = if includes_archived(filter) { HashSet::new() } else { archived(&cache) };
    let mut fitting = Vec::new();
    for task in cache.tasks() {
        // A query without a filter includes archived lists. A query with a filter excludes them, as at the
        // service.
        if *filter != Filter::All && put_away.contains(task.list.as_str()) {
            continue;
        }
        if filter::matches(filter, task, &context)? {
            fitting.push(task);
        }
    }
    Some(page(fitting, wanted))
}

fn archived(cache: &TaskCache) -> HashSet<&str> {
    cache.lists().into_iter().filter(|list| list.archived).map(|list| list.id.as_str()).collect()
}

/// Whether a filter includes archived lists.
fn includes_archived(filter: &Filter) -> bool {
    filter
        .terms()
        .iter()
        .any(|term| term.operator == Operator::IncludeArchived && term.value.eq_ignore_ascii_case("true"))
}

/// A hint for a filter that names an archived list without including archived lists: the service finds no
/// tasks in it.
fn archive_hint(filter: &Filter, cache: &TaskCache) -> Option<String> {
    let lists = cache.lists();
    let is_archived = |name: &str| lists.iter().any(|list| list.archived && list.name.to_lowercase() == name);
    let terms = filter.terms();
    let named = terms
        .iter()
        .find(|term| term.operator == Operator::List && is_archived(&term.value.to_lowercase()))?;
    (!includes_archived(filter))
        .then(|| format!("`{}` is in the archive: add includeArchived:true to find its tasks", named.value))
}

async fn ask_service(account: &Account, filter: &str) -> Result<Vec<Task>, Fault> {
    let params = if filter.is_empty() { Vec::new() } else { vec![("filter", filter.to_owned())] };
    let answer = account.client.read("rtm.tasks.getList", params).await?;
    Ok(TaskUpdates::read(&answer).tasks)
}

fn says_status(filter: &Filter) -> bool {
    use crate::filter::Field;
    filter
        .terms()
        .iter()
        .any(|term| matches!(term.operator, Operator::Status | Operator::When(Field::Completed, _)))
}

fn contains_text(task: &Task, words: &str) -> bool {
    let everything = |task: &Task| {
        let notes = task.notes.iter().flat_map(|note| [note.title.as_str(), note.text.as_str()]);
        let all =
            std::iter::once(task.name.as_str()).chain(task.tags.iter().map(String::as_str)).chain(notes);
        all.collect::<Vec<_>>().join("\n").to_lowercase()
    };
    let everything = everything(task);
    words.to_lowercase().split_whitespace().all(|word| everything.contains(word))
}

fn sort(tasks: &mut [&Task], by: Sort) {
    match by {
        Sort::Due => tasks.sort_by_cached_key(|task| {
            (task.due.is_none(), task.due, task.priority, task.name.to_lowercase(), task.key.clone())
        }),
        Sort::Priority => tasks.sort_by_cached_key(|task| {
            (task.priority, task.due.is_none(), task.due, task.name.to_lowercase(), task.key.clone())
        }),
        Sort::Name => tasks.sort_by_cached_key(|task| (task.name.to_lowercase(), task.key.clone())),
        Sort::Updated => tasks.sort_by_cached_key(|task| (Reverse(task.modified), task.key.clone())),
    }
}

async fn find_tasks(account: Arc<Account>, given: FindTasks, _cx: Context) -> ToolResult<FindTasksResult> {
    let start = match &given.cursor {
        Some(cursor) => cursor.parse().map_err(|_| {
            invalid("cursor", "it is none of ours", "pass next_cursor of the last answer, or leave it out")
        })?,
        None => 0,
    };
    let wanted = TaskQuery {
        filter: given.filter.as_deref(),
        text: given.text.as_deref(),
        completed: given.completed,
        sort: given.sort.unwrap_or_default(),
        limit: given.limit.unwrap_or(PAGE),
        start,
    };
    Ok(find_outcome(query_tasks(&account, &wanted, Freshness::Recent).await?))
}

async fn get_tasks(account: Arc<Account>, given: GetTasks, _cx: Context) -> ToolResult<FindTasksResult> {
    let filter =
        given.filter.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("status:incomplete");
    let parsed = filter::parse(filter)?;
    account.sync(Freshness::Anything).await?;
    let now = account.now().await?;
    let hints = filter::lint(&parsed, &now);
    let found = ask_service(&account, filter).await?;
    let wanted = TaskQuery { completed: true, limit: MOST, ..TaskQuery::default() };
    let (tasks, total) = page(found.iter().collect(), &wanted);
    Ok(find_outcome(FindTasksResult::new(&account, (&tasks, total), &now, "service", hints)))
}

async fn get_task(account: Arc<Account>, given: TaskArgument, cx: Context) -> ToolResult<TaskResult> {
    let task = lookup::task(&account, &given.task, given.list.as_deref(), TaskScope::All, Some(&cx)).await?;
    let mut views = lookup::views(&account, &[task]).await?;
    let view = views.pop().ok_or_else(|| ToolFailure::Fault(Fault::new(&reason::SERVER_BUG)))?;
    let mut text = view.line();
    for note in &view.notes {
        text.push_str(&format!("\nnote {}: {} {}", note.id, note.title, note.text));
    }
    Ok(TypedOutcome::new(TaskResult { task: view }, text))
}

/// One task.
#[derive(Debug, Serialize, JsonSchema)]
struct TaskResult {
    task: TaskView,
}

fn find_outcome(found: FindTasksResult) -> TypedOutcome<FindTasksResult> {
    let mut lines: Vec<String> = found.tasks.iter().map(TaskView::line).collect();
    if lines.is_empty() {
        lines.push("no task fits".to_owned());
    }
    if found.total > found.count {
        lines.push(format!("({} of {})", found.count, found.total));
    }
    lines.extend(found.hints.iter().map(|hint| format!("hint: {hint}")));
    TypedOutcome::new(found, lines.join("\n"))
}
