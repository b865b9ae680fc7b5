//! From a name or an id to the one task or list it means. Never a guess: when a name fits several, the caller chooses.

use failwell_fault::{Fault, reason};
use failwell_server::{Capability, Context, Question};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::account::{Account, Need};
use crate::model::{List, Task, TaskKey};
use crate::stop::{Stop, echo};
use crate::view::{ListView, TaskView};

/// Which tasks a name may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Among {
    Open,
    Completed,
    All,
}

/// How many candidates are shown.
const MOST: usize = 20;

/// The task a caller means.
pub(crate) async fn task(
    account: &Account,
    wanted: &str,
    list: Option<&str>,
    among: Among,
    cx: Option<&Context>,
) -> Result<Task, Stop> {
    if let Some(key) = TaskKey::read(wanted.trim()) {
        return by_id(account, &key, wanted).await;
    }
    account.sync(Need::Recent).await?;
    let list = match list {
        Some(list) => Some(self::list(account, list).await?.id),
        None => None,
    };
    let found = candidates(account, wanted, list.as_deref(), among);
    match found {
        Found::One(task) => Ok(*task),
        Found::Several(tasks) => choose(account, wanted, tasks, cx).await,
        Found::Near(tasks) => {
            let fault = Fault::new(&reason::TASKS_NO_SUCH_TASK).fact("wanted", echo(wanted));
            Err(with_candidates(fault, "nearest names", &views(account, &tasks).await?))
        }
    }
}

async fn by_id(account: &Account, key: &TaskKey, wanted: &str) -> Result<Task, Stop> {
    account.sync(Need::Anything).await?;
    if let Some(task) = account.book().task(key) {
        return Ok(task.clone());
    }
    // It may be newer than what is known.
    account.sync(Need::Now).await?;
    let found = account.book().task(key).cloned();
    Ok(found.ok_or_else(|| Fault::new(&reason::TASKS_NO_SUCH_TASK).fact("wanted", echo(wanted)))?)
}

enum Found {
    One(Box<Task>),
    Several(Vec<Task>),
    Near(Vec<Task>),
}

fn candidates(account: &Account, wanted: &str, list: Option<&str>, among: Among) -> Found {
    let book = account.book();
    let fold = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let wanted = fold(wanted);
    let eligible = |task: &&Task| {
        let state = match among {
            Among::Open => task.completed.is_none(),
            Among::Completed => task.completed.is_some(),
            Among::All => true,
        };
        state && list.is_none_or(|list| task.list == list)
    };
    let mut same: Vec<Task> =
        book.tasks().filter(eligible).filter(|task| fold(&task.name) == wanted).cloned().collect();
    match same.len() {
        0 => {
            let near = book.tasks().filter(eligible).filter(|task| fold(&task.name).contains(&wanted));
            Found::Near(near.take(MOST).cloned().collect())
        }
        1 => same.pop().map_or(Found::Near(Vec::new()), |task| Found::One(Box::new(task))),
        _ => Found::Several(same),
    }
}

/// Asks the user where the client can, else gives the candidates to the caller.
async fn choose(
    account: &Account,
    wanted: &str,
    tasks: Vec<Task>,
    cx: Option<&Context>,
) -> Result<Task, Stop> {
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

/// A client of the modern kind says which sorts of questions it shows; an older one shows forms.
fn can_fill_forms(cx: &Context) -> bool {
    let Some(declared) = cx.client().declared(Capability::Elicitation) else { return false };
    declared.as_object().is_none_or(|object| object.get("form").is_some() || object.get("url").is_none())
}

fn with_candidates(fault: Fault, title: &str, views: &[TaskView]) -> Stop {
    let shown: Vec<String> = views.iter().take(MOST).map(TaskView::line).collect();
    if shown.is_empty() {
        return Stop::Fault(fault);
    }
    let candidates: Vec<Value> = views.iter().take(MOST).map(|view| json!(view)).collect();
    let text = format!("{title}:\n{}", shown.join("\n"));
    Stop::Shown(fault, text, json!({"candidates": candidates}))
}

/// Tasks as callers see them.
pub(crate) async fn views(account: &Account, tasks: &[Task]) -> Result<Vec<TaskView>, Fault> {
    let zone = account.zone().await?;
    Ok(views_in(account, tasks, &zone))
}

pub(crate) fn views_in(account: &Account, tasks: &[Task], zone: &TimeZone) -> Vec<TaskView> {
    let book = account.book();
    tasks.iter().map(|task| TaskView::of(task, &book, zone)).collect()
}

/// The list a caller means: by its id, or by its name.
pub(crate) async fn list(account: &Account, wanted: &str) -> Result<List, Stop> {
    account.sync(Need::Anything).await?;
    if let Some(found) = one_list(account, wanted)? {
        return Ok(found);
    }
    account.sync(Need::NowWithLists).await?;
    let found = one_list(account, wanted)?;
    Ok(found.ok_or_else(|| Fault::new(&reason::TASKS_NO_SUCH_LIST).fact("wanted", echo(wanted)))?)
}

fn one_list(account: &Account, wanted: &str) -> Result<Option<List>, Stop> {
    let book = account.book();
    if let Some(list) = book.list(wanted.trim()) {
        return Ok(Some(list.clone()));
    }
    let wanted_name = wanted.trim().to_lowercase();
    let same: Vec<&List> =
        book.lists().into_iter().filter(|list| list.name.to_lowercase() == wanted_name).collect();
    match same.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some((*only).clone())),
        several => {
            // One that is in use goes before those put away.
            let in_use: Vec<&&List> = several.iter().filter(|list| !list.archived).collect();
            if let [only] = in_use.as_slice() {
                return Ok(Some((**only).clone()));
            }
            let views: Vec<ListView> = several.iter().map(|list| ListView::of(list, &book)).collect();
            let fault = Fault::new(&reason::TASKS_AMBIGUOUS)
                .fact("count", several.len())
                .fact("what", "lists")
                .fact("wanted", echo(wanted));
            let lines: Vec<String> = views.iter().map(ListView::line).collect();
            let text = format!("candidates:\n{}", lines.join("\n"));
            Err(Stop::Shown(fault, text, json!({"candidates": views})))
        }
    }
}
