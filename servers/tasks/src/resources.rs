//! What can be read, and watched.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use failwell_fault::{Fault, OrFault, reason};
use failwell_server::{Address, Numbers, Resource, ResourceContents, Toolbox, unknown_resource};
use serde::Serialize;
use serde_json::{Value, json};

use crate::account::{Account, Need, Traffic};
use crate::model::TaskKey;
use crate::shape::{items, text};
use crate::tools::{FindWanted, found};
use crate::view::{ListView, TaskView};

const JSON: &str = "application/json";
/// The most tasks one resource holds.
const MOST: usize = 500;

/// All of them.
pub(crate) fn all(toolbox: Toolbox, account: &Arc<Account>) -> Toolbox {
    let at = |uri, name, description, what: What| {
        let account = account.clone();
        Resource::new(uri, name, description, JSON, move |address, _| {
            let account = account.clone();
            async move { read(&account, &address, what).await }
        })
    };
    toolbox
        .resource(at("rtm://auth", "login", "Who is logged in.", What::Auth))
        .resource(at("rtm://lists", "lists", "All lists.", What::Lists))
        .resource(at("rtm://tags", "tags", "All tags, with how many open tasks have each.", What::Tags))
        .resource(at(
            "rtm://settings",
            "settings",
            "The account's settings: time zone, date format, default list.",
            What::Settings,
        ))
        .resource(at("rtm://tasks", "tasks", "All open tasks.", What::Tasks))
        .resource(at("rtm://today", "today", "Open tasks due today, and those overdue.", What::Today))
        .resource(at("rtm://overdue", "overdue", "Open tasks that are overdue.", What::Overdue))
        .resource(at("rtm://tasks{?filter}", "filtered tasks", "Tasks that fit a filter.", What::Filtered))
        .resource(at("rtm://list/{id}", "list", "The open tasks of one list.", What::OneList))
        .resource(at("rtm://task/{id}", "task", "One task, by its id.", What::OneTask))
        .resource(at(
            "failwell://health",
            "health",
            "Whether this server can work: key, login, what is known.",
            What::Health,
        ))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Auth,
    Lists,
    Tags,
    Settings,
    Tasks,
    Today,
    Overdue,
    Filtered,
    OneList,
    OneTask,
    Health,
}

const OVERDUE: &str = "status:incomplete AND dueBefore:today";
const TODAY: &str = "status:incomplete AND dueBefore:tomorrow";

async fn read(account: &Account, address: &Address, what: What) -> Result<Vec<ResourceContents>, Fault> {
    let part = |name: &str| address.parts.get(name).map_or("", String::as_str);
    let value = match what {
        What::Auth => {
            // The address of a login that waits is for its person, not for whoever reads along.
            to_value(&account.auth_status().await?)?
        }
        What::Settings => account.settings().await?,
        What::Health => health(account).await?,
        What::Lists => {
            account.sync(Need::NowWithLists).await?;
            lists(account)
        }
        What::Tags => {
            account.sync(Need::Recent).await?;
            tags(account, &account.client.read("rtm.tags.getList", Vec::new()).await?)
        }
        What::Tasks => tasks(account, "status:incomplete").await?,
        What::Today => tasks(account, TODAY).await?,
        What::Overdue => tasks(account, OVERDUE).await?,
        What::Filtered => tasks(account, part("filter")).await?,
        What::OneList => {
            account.sync(Need::Recent).await?;
            one_list(account, part("id")).await?.ok_or_else(|| unknown_resource(&address.uri))?
        }
        What::OneTask => {
            account.sync(Need::Recent).await?;
            one_task(account, part("id")).await?.ok_or_else(|| unknown_resource(&address.uri))?
        }
    };
    Ok(vec![ResourceContents::text(address.uri.clone(), JSON, value.to_string())])
}

fn to_value(value: &impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(value).or_fault(&reason::SERVER_BUG)
}

async fn tasks(account: &Account, filter: &str) -> Result<Value, Fault> {
    let wanted = FindWanted { filter: Some(filter), limit: MOST, ..FindWanted::default() };
    to_value(&found(account, &wanted, Need::Recent).await?)
}

fn lists(account: &Account) -> Value {
    let book = account.book();
    let lists: Vec<ListView> = book.lists().into_iter().map(|list| ListView::of(list, &book)).collect();
    json!({"count": lists.len(), "lists": lists})
}

fn tags(account: &Account, answer: &Value) -> Value {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for tag in items(answer, "tags").into_iter().flat_map(|place| items(place, "tag")) {
        let name = text(tag, "name");
        counts.insert(if name.is_empty() { crate::shape::words(tag) } else { name }, 0);
    }
    for task in account.book().tasks().filter(|task| task.completed.is_none()) {
        for tag in &task.tags {
            *counts.entry(tag.clone()).or_default() += 1;
        }
    }
    let tags: Vec<Value> =
        counts.into_iter().map(|(name, open)| json!({"name": name, "open_tasks": open})).collect();
    json!({"count": tags.len(), "tags": tags})
}

async fn one_list(account: &Account, id: &str) -> Result<Option<Value>, Fault> {
    let zone = account.zone().await?;
    let book = account.book();
    let Some(list) = book.list(id) else { return Ok(None) };
    let open = book.tasks().filter(|task| task.list == id && task.completed.is_none());
    let tasks: Vec<TaskView> = open.take(MOST).map(|task| TaskView::of(task, &book, &zone)).collect();
    Ok(Some(json!({"list": ListView::of(list, &book), "tasks": tasks})))
}

async fn one_task(account: &Account, id: &str) -> Result<Option<Value>, Fault> {
    let zone = account.zone().await?;
    let book = account.book();
    let task = TaskKey::read(id).and_then(|key| book.task(&key).cloned());
    Ok(task.map(|task| json!({"task": TaskView::of(&task, &book, &zone)})))
}

async fn health(account: &Account) -> Result<Value, Fault> {
    let configured = account.client.key().is_ok();
    let logged_in = configured && account.client.keep.token().await?.is_some();
    let book = account.book();
    Ok(json!({
        "status": if logged_in { "ready" } else if configured { "login_needed" } else { "not_configured" },
        "logged_in": logged_in,
        "tasks_known": book.tasks().count(),
        "lists_known": book.lists().len(),
        "reloads": account.traffic.reloads.load(Relaxed),
        "updates": account.traffic.updates.load(Relaxed),
    }))
}

/// What a watched resource looks like in what is known, in a number. `None` for those nobody can see from here.
pub(crate) fn print(account: &Account, uri: &str) -> Option<u64> {
    let book = account.book();
    let mut hasher = DefaultHasher::new();
    match uri {
        "rtm://settings" | "failwell://health" => return None,
        "rtm://auth" => account.pending().is_some().hash(&mut hasher),
        "rtm://lists" => format!("{:?}", book.lists()).hash(&mut hasher),
        "rtm://tags" => {
            let mut tags: Vec<&String> = book.tasks().flat_map(|task| &task.tags).collect();
            tags.sort();
            tags.hash(&mut hasher);
        }
        uri => {
            let list = uri.strip_prefix("rtm://list/");
            let one = uri.strip_prefix("rtm://task/").map(TaskKey::read);
            for task in book.tasks() {
                let concerns = match (&list, &one) {
                    (Some(list), _) => task.list == *list,
                    (_, Some(key)) => key.as_ref() == Some(&task.key),
                    // What a filter finds changes with any task, and with the day.
                    (None, None) => true,
                };
                if concerns {
                    format!("{task:?}").hash(&mut hasher);
                }
            }
        }
    }
    Some(hasher.finish())
}

impl Traffic {
    /// How often, and how much, was fetched.
    pub(crate) fn write(&self, out: &mut Numbers) {
        let counts =
            [("reload", &self.reloads, &self.reload_bytes), ("update", &self.updates, &self.update_bytes)];
        out.family("failwell_tasks_syncs_total", "counter");
        for (kind, count, _) in counts {
            out.put("failwell_tasks_syncs_total", &[("kind", kind)], count.load(Relaxed));
        }
        out.family("failwell_tasks_sync_bytes_total", "counter");
        for (kind, _, bytes) in counts {
            out.put("failwell_tasks_sync_bytes_total", &[("kind", kind)], bytes.load(Relaxed));
        }
    }
}
