use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

use failwell_fault::{Fault, reason};
use failwell_server::{Context, Toolbox};
use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{FindTasks, GetTasks, OneTask, Sort};
use super::{Answer, Said, tool};
use crate::account::{Account, Need};
use crate::book::Book;
use crate::filter::{self, Filter, Operator, Sight};
use crate::lookup::{self, Among};
use crate::model::{Task, Told};
use crate::stop::{Stop, invalid};
use crate::view::TaskView;

/// Tasks on a page unless the caller says otherwise.
const PAGE: usize = 50;
/// What `rtm_getTasks` gives at most; the rest is counted.
const MOST: usize = 500;

pub(super) fn tools(toolbox: Toolbox, account: &Arc<Account>) -> Result<Toolbox, Fault> {
    Ok(toolbox
        .tool(tool(account, ("rtm_getTasks", "Get tasks", "Gets tasks as Remember The Milk itself filters them. rtm_findTasks is faster, pages and searches."), get_tasks)?.read_only())
        .tool(tool(account, ("rtm_findTasks", "Find tasks", "Finds tasks by filter and words, in what is known of the account: quick, and in pages. Dates are in the account's time zone."), find_tasks)?.read_only())
        .tool(tool(account, ("rtm_getTask", "Show a task", "Shows one task with its notes, by id or name."), get_task)?.read_only()))
}

/// Tasks that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    pub(crate) tasks: Vec<TaskView>,
    /// How many are in this answer.
    pub(crate) count: usize,
    /// How many fit.
    pub(crate) total: usize,
    /// Pass it as `cursor` to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
    /// Of dates without a zone.
    pub(crate) time_zone: String,
    /// `known` when nobody was asked, `service` when Remember The Milk filtered.
    pub(crate) source: &'static str,
    /// What the filter does that may not be meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hints: Vec<String>,
}

/// What to look for.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) filter: Option<&'a str>,
    pub(crate) text: Option<&'a str>,
    pub(crate) completed: bool,
    pub(crate) sort: Sort,
    pub(crate) limit: usize,
    pub(crate) start: usize,
}

/// Finds tasks in what is known; what only the service can tell apart, it is asked for.
pub(crate) async fn found(account: &Account, wanted: &Wanted<'_>, need: Need) -> Result<Found, Fault> {
    let text = wanted.filter.unwrap_or_default();
    let parsed = filter::parse(text)?;
    account.sync(need).await?;
    let now = account.now().await?;
    let hints = if text.is_empty() { Vec::new() } else { filter::lint(&parsed, &now) };
    // Here completed tasks are left out unless they are asked for, so that hint would be wrong.
    let mut hints: Vec<String> =
        hints.into_iter().filter(|hint| !hint.starts_with("without status")).collect();
    hints.extend(archive_hint(&parsed, &account.book()));
    let wanted = Wanted { completed: wanted.completed || says_status(&parsed), ..*wanted };
    let (page, total, source) = match known(account, &parsed, &now, &wanted) {
        Some((page, total)) => (page, total, "known"),
        None => {
            let told = asked(account, text).await?;
            let (page, total) = paged(told.iter().collect(), &wanted);
            (page, total, "service")
        }
    };
    let end = wanted.start + page.len();
    let views = lookup::views_in(account, &page, now.time_zone());
    let zone = now.time_zone().iana_name().unwrap_or("UTC").to_owned();
    let next_cursor = (end < total && !page.is_empty()).then(|| format!("{end}"));
    Ok(Found { count: views.len(), tasks: views, total, next_cursor, time_zone: zone, source, hints })
}

/// The page that is wanted of these tasks, and how many fit.
fn paged(mut tasks: Vec<&Task>, wanted: &Wanted<'_>) -> (Vec<Task>, usize) {
    if !wanted.completed {
        tasks.retain(|task| task.completed.is_none());
    }
    if let Some(words) = wanted.text {
        tasks.retain(|task| holds(task, words));
    }
    sort(&mut tasks, wanted.sort);
    let limit = if wanted.limit == 0 { PAGE } else { wanted.limit };
    let total = tasks.len();
    (tasks.into_iter().skip(wanted.start).take(limit).cloned().collect(), total)
}

/// The tasks that fit, unless only the service can say.
fn known(
    account: &Account,
    filter: &Filter,
    now: &jiff::Zoned,
    wanted: &Wanted<'_>,
) -> Option<(Vec<Task>, usize)> {
    let book = account.book();
    let sight = Sight { book: &book, now };
    // A smart list holds what its own filter says, and that is the service's to say.
    let of_smart_list = filter.terms().into_iter().any(|term| {
        term.operator == Operator::List
            && book
                .lists()
                .iter()
                .any(|list| list.smart && list.name.to_lowercase() == term.value.to_lowercase())
    });
    if of_smart_list {
        return None;
    }
    let put_away = if includes_archived(filter) { HashSet::new() } else { archived(&book) };
    let mut fitting = Vec::new();
    for task in book.tasks() {
        // Without a filter everything is told; with one, what lies in the archive stays there, as at the service.
        if *filter != Filter::All && put_away.contains(task.list.as_str()) {
            continue;
        }
        if filter::matches(filter, task, &sight)? {
            fitting.push(task);
        }
    }
    Some(paged(fitting, wanted))
}

fn archived(book: &Book) -> HashSet<&str> {
    book.lists().into_iter().filter(|list| list.archived).map(|list| list.id.as_str()).collect()
}

/// Whether a filter asks for what is in the archive.
fn includes_archived(filter: &Filter) -> bool {
    filter
        .terms()
        .iter()
        .any(|term| term.operator == Operator::IncludeArchived && term.value.eq_ignore_ascii_case("true"))
}

/// A list in the archive that a filter names without asking for the archive: the service finds nothing there.
fn archive_hint(filter: &Filter, book: &Book) -> Option<String> {
    let lists = book.lists();
    let is_archived = |name: &str| lists.iter().any(|list| list.archived && list.name.to_lowercase() == name);
    let terms = filter.terms();
    let named = terms
        .iter()
        .find(|term| term.operator == Operator::List && is_archived(&term.value.to_lowercase()))?;
    (!includes_archived(filter))
        .then(|| format!("`{}` is in the archive: add includeArchived:true to find its tasks", named.value))
}

async fn asked(account: &Account, filter: &str) -> Result<Vec<Task>, Fault> {
    let params = if filter.is_empty() { Vec::new() } else { vec![("filter", filter.to_owned())] };
    let answer = account.client.read("rtm.tasks.getList", params).await?;
    Ok(Told::read(&answer).tasks)
}

fn says_status(filter: &Filter) -> bool {
    use crate::filter::Field;
    filter
        .terms()
        .iter()
        .any(|term| matches!(term.operator, Operator::Status | Operator::When(Field::Completed, _)))
}

fn holds(task: &Task, words: &str) -> bool {
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

async fn find_tasks(account: Arc<Account>, given: FindTasks, _cx: Context) -> Answer<Found> {
    let start = match &given.cursor {
        Some(cursor) => cursor.parse().map_err(|_| {
            invalid("cursor", "it is none of ours", "pass next_cursor of the last answer, or leave it out")
        })?,
        None => 0,
    };
    let wanted = Wanted {
        filter: given.filter.as_deref(),
        text: given.text.as_deref(),
        completed: given.completed,
        sort: given.sort.unwrap_or_default(),
        limit: given.limit.unwrap_or(PAGE),
        start,
    };
    Ok(said(found(&account, &wanted, Need::Recent).await?))
}

async fn get_tasks(account: Arc<Account>, given: GetTasks, _cx: Context) -> Answer<Found> {
    let filter =
        given.filter.as_deref().filter(|text| !text.trim().is_empty()).unwrap_or("status:incomplete");
    let parsed = filter::parse(filter)?;
    account.sync(Need::Anything).await?;
    let now = account.now().await?;
    let hints = filter::lint(&parsed, &now);
    let told = asked(&account, filter).await.map_err(refused_filter)?;
    let wanted = Wanted { completed: true, limit: MOST, ..Wanted::default() };
    let (tasks, total) = paged(told.iter().collect(), &wanted);
    let views = lookup::views_in(&account, &tasks, now.time_zone());
    let zone = now.time_zone().iana_name().unwrap_or("UTC").to_owned();
    let found = Found {
        count: views.len(),
        tasks: views,
        total,
        next_cursor: None,
        time_zone: zone,
        source: "service",
        hints,
    };
    Ok(said(found))
}

/// Whatever code the service has for a filter it does not like.
fn refused_filter(fault: Fault) -> Fault {
    if fault.reason() != &reason::TASKS_RTM_REFUSED {
        return fault;
    }
    Fault::new(&reason::TASKS_INVALID_FILTER)
        .fact("offset", 0u64)
        .fact("why", "the service does not accept it")
        .absorbing(fault)
}

async fn get_task(account: Arc<Account>, given: OneTask, cx: Context) -> Answer<One> {
    let task = lookup::task(&account, &given.task, given.list.as_deref(), Among::All, Some(&cx)).await?;
    let mut views = lookup::views(&account, &[task]).await?;
    let view = views.pop().ok_or_else(|| Stop::Fault(Fault::new(&reason::SERVER_BUG)))?;
    let mut text = view.line();
    for note in &view.notes {
        text.push_str(&format!("\nnote {}: {} {}", note.id, note.title, note.text));
    }
    Ok(Said { object: One { task: view }, text })
}

/// One task.
#[derive(Debug, Serialize, JsonSchema)]
struct One {
    task: TaskView,
}

fn said(found: Found) -> Said<Found> {
    let mut lines: Vec<String> = found.tasks.iter().map(TaskView::line).collect();
    if lines.is_empty() {
        lines.push("no task fits".to_owned());
    }
    if found.total > found.count {
        lines.push(format!("({} of {})", found.count, found.total));
    }
    lines.extend(found.hints.iter().map(|hint| format!("hint: {hint}")));
    Said { text: lines.join("\n"), object: found }
}
