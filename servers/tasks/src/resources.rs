//! Resources and their fingerprints for subscriptions.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use failwell_fault::{Fault, OrFault};
use failwell_sdk::{Address, MetricsText, Resource, ResourceContents, Toolbox, unknown_resource};
use serde::Serialize;
use serde_json::{Value, json};

use crate::account::{Account, Freshness, Traffic};
use crate::model::TaskKey;
use crate::reason;
use crate::service::json::{items, text};
use crate::tools::{TaskQuery, query_tasks};
use crate::view::{ListView, TaskView};

const JSON: &str = "application/json";
/// Maximum number of tasks in one resource.
const MOST: usize = 500;

pub(crate) fn all(toolbox: Toolbox, account: &Arc<Account>) -> Toolbox {
    let at = |uri, name, description, what: ResourceKind| {
        let account = account.clone();
        Resource::new(uri, name, description, JSON, move |address, _| {
            let account = account.clone();
            async move { read(&account, &address, what).await }
        })
    };
    toolbox
        .resource(at("rtm://auth", "login", "Who is logged in.", ResourceKind::Auth))
        .resource(at("rtm://lists", "lists", "All lists.", ResourceKind::Lists))
        .resource(at(
            "rtm://tags",
            "tags",
            "All tags, with how many open tasks have each.",
            ResourceKind::Tags,
        ))
        .resource(at(
            "rtm://settings",
            "settings",
            "The account's settings: time zone, date format, default list.",
            ResourceKind::Settings,
        ))
        .resource(at("rtm://tasks", "tasks", "All open tasks.", ResourceKind::Tasks))
        .resource(at("rtm://today", "today", "Open tasks due today, and those overdue.", ResourceKind::Today))
        .resource(at("rtm://overdue", "overdue", "Open tasks that are overdue.", ResourceKind::Overdue))
        .resource(at(
            "rtm://tasks{?filter}",
            "filtered tasks",
            "Tasks that fit a filter.",
            ResourceKind::Filtered,
        ))
        .resource(at("rtm://list/{id}", "list", "The open tasks of one list.", ResourceKind::ListArgument))
        .resource(at("rtm://task/{id}", "task", "One task, by its id.", ResourceKind::OneTask))
        .resource(at(
            "failwell://health",
            "health",
            "Whether this server can work: key, login, whether the service can be reached, what is known.",
            ResourceKind::Health,
        ))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResourceKind {
    Auth,
    Lists,
    Tags,
    Settings,
    Tasks,
    Today,
    Overdue,
    Filtered,
    ListArgument,
    OneTask,
    Health,
}

const OVERDUE: &str = "status:incomplete AND dueBefore:today";
const TODAY: &str = "status:incomplete AND dueBefore:tomorrow";

async fn read(
    account: &Account,
    address: &Address,
    what: ResourceKind,
) -> Result<Vec<ResourceContents>, Fault> {
    let part = |name: &str| address.parts.get(name).map_or("", String::as_str);
    let value = match what {
        ResourceKind::Auth => {
            // The address of a pending login is for the user only, so this resource leaves it out.
            to_value(&account.auth_status().await?)?
        }
        ResourceKind::Settings => account.settings().await?,
        ResourceKind::Health => health(account).await?,
        ResourceKind::Lists => {
            account.sync(Freshness::NowWithLists).await?;
            lists(account)
        }
        ResourceKind::Tags => {
            account.sync(Freshness::Recent).await?;
            tags(account, &account.client.read("rtm.tags.getList", Vec::new()).await?)
        }
        ResourceKind::Tasks => tasks(account, "status:incomplete").await?,
        ResourceKind::Today => tasks(account, TODAY).await?,
        ResourceKind::Overdue => tasks(account, OVERDUE).await?,
        ResourceKind::Filtered => tasks(account, part("filter")).await?,
        ResourceKind::ListArgument => {
            account.sync(Freshness::Recent).await?;
            one_list(account, part("id")).await?.ok_or_else(|| unknown_resource(&address.uri))?
        }
        ResourceKind::OneTask => {
            account.sync(Freshness::Recent).await?;
            one_task(account, part("id")).await?.ok_or_else(|| unknown_resource(&address.uri))?
        }
    };
    Ok(vec![ResourceContents::text(address.uri.clone(), JSON, value.to_string())])
}

fn to_value(value: &impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(value).or_fault(&reason::SERVER_BUG)
}

async fn tasks(account: &Account, filter: &str) -> Result<Value, Fault> {
    let wanted = TaskQuery { filter: Some(filter), limit: MOST, ..TaskQuery::default() };
    to_value(&query_tasks(account, &wanted, Freshness::Recent).await?)
}

fn lists(account: &Account) -> Value {
    let cache = account.cache();
    let lists: Vec<ListView> = cache.lists().into_iter().map(|list| ListView::new(list, &cache)).collect();
    json!({"count": lists.len(), "lists": lists})
}

fn tags(account: &Account, answer: &Value) -> Value {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for tag in items(answer, "tags").into_iter().flat_map(|place| items(place, "tag")) {
        let name = text(tag, "name");
        counts.insert(if name.is_empty() { crate::service::json::words(tag) } else { name }, 0);
    }
    for task in account.cache().tasks().filter(|task| task.completed.is_none()) {
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
    let cache = account.cache();
    let Some(list) = cache.list(id) else { return Ok(None) };
    let open = cache.tasks().filter(|task| task.list == id && task.completed.is_none());
    let tasks: Vec<TaskView> = open.take(MOST).map(|task| TaskView::new(task, &cache, &zone)).collect();
    Ok(Some(json!({"list": ListView::new(list, &cache), "tasks": tasks})))
}

async fn one_task(account: &Account, id: &str) -> Result<Option<Value>, Fault> {
    let zone = account.zone().await?;
    let cache = account.cache();
    let task = TaskKey::read(id).and_then(|key| cache.task(&key).cloned());
    Ok(task.map(|task| json!({"task": TaskView::new(&task, &cache, &zone)})))
}

async fn health(account: &Account) -> Result<Value, Fault> {
    let configured = account.client.key().is_ok();
    let logged_in = configured && account.client.keep.token().await?.is_some();
    let trouble = if configured { account.client.check_reach().await.err() } else { None };
    let status = match (configured, logged_in, &trouble) {
        (false, ..) => "not_configured",
        (_, _, Some(_)) => "unreachable",
        (_, false, _) => "login_needed",
        (_, true, None) => "ready",
    };
    let cache = account.cache();
    Ok(json!({
        "status": status,
        "logged_in": logged_in,
        "reason": trouble.map(|fault| fault.reason().id),
        "tasks_known": cache.tasks().count(),
        "lists_known": cache.lists().len(),
        "reloads": account.traffic.reloads.load(Relaxed),
        "updates": account.traffic.updates.load(Relaxed),
    }))
}

/// A fingerprint of a resource in the cache. `None` if the cache does not contain it.
pub(crate) fn print(account: &Account, uri: &str) -> Option<u64> {
    let cache = account.cache();
    let mut hasher = DefaultHasher::new();
    match uri {
        "rtm://settings" | "failwell://health" => return None,
        "rtm://auth" => account.pending().is_some().hash(&mut hasher),
        "rtm://lists" => format!("{:?}", cache.lists()).hash(&mut hasher),
        "rtm://tags" => {
            let mut tags: Vec<&String> = cache.tasks().flat_map(|task| &task.tags).collect();
            tags.sort();
            tags.hash(&mut hasher);
        }
        uri => {
            let list = uri.strip_prefix("rtm://list/");
            let one = uri.strip_prefix("rtm://task/").map(TaskKey::read);
            for task in cache.tasks() {
                let concerns = match (&list, &one) {
                    (Some(list), _) => task.list == *list,
                    (_, Some(key)) => key.as_ref() == Some(&task.key),
                    // Any task, or the next day, can change the result of a filter.
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
    /// Writes the number and size of synchronizations.
    pub(crate) fn write(&self, out: &mut MetricsText) {
        let counts =
            [("reload", &self.reloads, &self.reload_bytes), ("update", &self.updates, &self.update_bytes)];
        out.family("failwell_tasks_syncs_total", "counter", "Synchronizations with the service.");
        for (kind, count, _) in counts {
            out.put("failwell_tasks_syncs_total", &[("kind", kind)], count.load(Relaxed));
        }
        out.family("failwell_tasks_sync_bytes_total", "counter", "Bytes of synchronizations.");
        for (kind, _, bytes) in counts {
            out.put("failwell_tasks_sync_bytes_total", &[("kind", kind)], bytes.load(Relaxed));
        }
    }
}
