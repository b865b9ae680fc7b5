//! Resolves a name or an id to one task or list. It never guesses: if a name matches several, the caller
//! chooses.

use failwell_fault::Fault;
use failwell_sdk::{Capability, Context, Question};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::account::{Account, Freshness};
use crate::model::{List, Task, TaskKey};
use crate::reason;
use crate::tool_failure::{ToolFailure, echo};
use crate::view::{ListView, TaskView};

/// The tasks that a name can match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskScope {
    Open,
    Completed,
    All,
}

/// Maximum number of candidates.
const MOST: usize = 20;

/// The task that a caller names.
pub(crate) async fn task(
    account: &Account,
    wanted: &str,
    list: Option<&str>,
    among: TaskScope,
    cx: Option<&Context>,
) -> Result<Task, ToolFailure> {
    if let Some(key) = TaskKey::read(wanted.trim()) {
        return by_id(account, &key, wanted).await;
    }
    account.sync(Freshness::Recent).await?;
    let list = match list {
        Some(list) => Some(self::list(account, list).await?.id),
        None => None,
    };
    let found = candidates(account, wanted, list.as_deref(), among);
    match found {
        LookupResult::One(task) => Ok(*task),
        LookupResult::Several(tasks) => choose(account, wanted, tasks, cx).await,
        LookupResult::Near(tasks) => {
            let fault = Fault::new(&reason::TASKS_NO_SUCH_TASK).fact("wanted", echo(wanted));
            Err(with_candidates(fault, "nearest names", &views(account, &tasks).await?))
        }
    }
}

async fn by_id(account: &Account, key: &TaskKey, wanted: &str) -> Result<Task, ToolFailure> {
    account.sync(Freshness::Anything).await?;
    if let Some(task) = account.cache().task(key) {
        return Ok(task.clone());
    }
    // The task may be newer than the cache.
    account.sync(Freshness::Now).await?;
    let found = account.cache().task(key).cloned();
    Ok(found.ok_or_else(|| Fault::new(&reason::TASKS_NO_SUCH_TASK).fact("wanted", echo(wanted)))?)
}

enum LookupResult {
    One(Box<Task>),
    Several(Vec<Task>),
    Near(Vec<Task>),
}

fn candidates(account: &Account, wanted: &str, list: Option<&str>, among: TaskScope) -> LookupResult {
    let cache = account.cache();
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let wanted = fold(wanted);
    let eligible = |task: &&Task| {
        let state = match among {
            TaskScope::Open => task.completed.is_none(),
            TaskScope::Completed => task.completed.is_some(),
            TaskScope::All => true,
        };
        state && list.is_none_or(|list| task.list == list)
    };
    let mut same: Vec<Task> =
        cache.tasks().filter(eligible).filter(|task| fold(&task.name) == wanted).cloned().collect();
    match same.len() {
        0 => {
            let near = cache.tasks().filter(eligible).filter(|task| fold(&task.name).contains(&wanted));
            LookupResult::Near(near.take(MOST).cloned().collect())
        }
        1 => same.pop().map_or(LookupResult::Near(Vec::new()), |task| LookupResult::One(Box::new(task))),
        _ => LookupResult::Several(same),
    }
}

/// Asks the user if the client can, otherwise returns the candidates to the caller.
async fn choose(
    account: &Account,
    wanted: &str,
    tasks: Vec<Task>,
    cx: Option<&Context>,
) -> Result<Task, ToolFailure> {
    let views = views(account, &tasks).await?;
    if let Some(cx) = cx.filter(|cx| can_fill_forms(cx)) {
        let ids: Vec<&str> = views.iter().take(MOST).map(|view| view.id.as_str()).collect();
        let names: Vec<String> = views.iter().take(MOST).map(TaskView::line).collect();
        let form = json!({
            "type": "object",
            "properties": {"task": {"type": "string", "title": "Which one?", "enum": ids, "enumNames": names}},
            "required": ["task"],
        });
        let question = Question::form("Several tasks have this name. Which one is meant?", form);
        let answers = cx.ask(&[("which-task", question)]).await?;
        let chosen = answers.accepted("which-task");
        let chosen = chosen.as_ref().and_then(|content| content.get("task")?.as_str());
        if let Some(task) = chosen.and_then(|id| tasks.iter().find(|task| task.key.id() == id)) {
            return Ok(task.clone());
        }
    }
    let fault = Fault::new(&reason::TASKS_AMBIGUOUS)
        .fact("count", views.len())
        .fact("what", "tasks")
        .fact("wanted", echo(wanted));
    Err(with_candidates(fault, "candidates", &views))
}

/// A modern client declares the kinds of elicitation it supports; an older one supports forms.
fn can_fill_forms(cx: &Context) -> bool {
    let Some(declared) = cx.client().declared(Capability::Elicitation) else { return false };
    declared.as_object().is_none_or(|object| object.get("form").is_some() || object.get("url").is_none())
}

fn with_candidates(fault: Fault, title: &str, views: &[TaskView]) -> ToolFailure {
    let shown: Vec<String> = views.iter().take(MOST).map(TaskView::line).collect();
    if shown.is_empty() {
        return ToolFailure::Fault(fault);
    }
    let candidates: Vec<Value> = views.iter().take(MOST).map(|view| json!(view)).collect();
    let text = format!("{title}:\n{}", shown.join("\n"));
    ToolFailure::Shown(fault, text, json!({"candidates": candidates}))
}

pub(crate) async fn views(account: &Account, tasks: &[Task]) -> Result<Vec<TaskView>, Fault> {
    let zone = account.zone().await?;
    Ok(views_in(account, tasks, &zone))
}

pub(crate) fn views_in(account: &Account, tasks: &[Task], zone: &TimeZone) -> Vec<TaskView> {
    let cache = account.cache();
    tasks.iter().map(|task| TaskView::new(task, &cache, zone)).collect()
}

/// Finds a list by its id or its name.
pub(crate) async fn list(account: &Account, wanted: &str) -> Result<List, ToolFailure> {
    account.sync(Freshness::Anything).await?;
    if let Some(found) = one_list(account, wanted)? {
        return Ok(found);
    }
    account.sync(Freshness::NowWithLists).await?;
    let found = one_list(account, wanted)?;
    Ok(found.ok_or_else(|| Fault::new(&reason::TASKS_NO_SUCH_LIST).fact("wanted", echo(wanted)))?)
}

fn one_list(account: &Account, wanted: &str) -> Result<Option<List>, ToolFailure> {
    let cache = account.cache();
    if let Some(list) = cache.list(wanted.trim()) {
        return Ok(Some(list.clone()));
    }
    let wanted_name = wanted.trim().to_lowercase();
    let same: Vec<&List> =
        cache.lists().into_iter().filter(|list| list.name.to_lowercase() == wanted_name).collect();
    match same.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some((*only).clone())),
        several => {
            // An active list has precedence over archived ones.
            let in_use: Vec<&&List> = several.iter().filter(|list| !list.archived).collect();
            if let [only] = in_use.as_slice() {
                return Ok(Some((**only).clone()));
            }
            let views: Vec<ListView> = several.iter().map(|list| ListView::new(list, &cache)).collect();
            let fault = Fault::new(&reason::TASKS_AMBIGUOUS)
                .fact("count", several.len())
                .fact("what", "lists")
                .fact("wanted", echo(wanted));
            let lines: Vec<String> = views.iter().map(ListView::line).collect();
            let text = format!("candidates:\n{}", lines.join("\n"));
            Err(ToolFailure::Shown(fault, text, json!({"candidates": views})))
        }
    }
}
