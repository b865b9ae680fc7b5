//! One account: its cached tasks and lists, and changes to them. All callers of the server share it.

pub(crate) mod cache;
pub(crate) mod call_log;
pub(crate) mod change;
pub(crate) mod edit;
pub(crate) mod journal;
pub(crate) mod login;
pub(crate) mod unconfirmed;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use failwell_fault::{Fault, Secret};
use jiff::Zoned;
use jiff::tz::TimeZone;
use parking_lot::{Mutex as SyncMutex, RwLock, RwLockReadGuard};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::account::cache::TaskCache;
use crate::account::journal::Journal;
use crate::account::login::PendingLogin;
use crate::account::unconfirmed::UnconfirmedChanges;
use crate::dates::iso;
use crate::model::{List, TaskUpdates};
use crate::reason;
use crate::service::client::Client;
use crate::service::json::{first, items, text};
use crate::settings::Settings;

/// Maximum age of the lists, which seldom change.
const LISTS_GOOD_FOR: Duration = Duration::from_secs(300);
/// Maximum age of the account's settings.
const SETTINGS_GOOD_FOR: Duration = Duration::from_secs(3_600);

pub(crate) struct Account {
    pub(crate) client: Client,
    cache: RwLock<TaskCache>,
    sync: Mutex<SyncState>,
    timeline: Mutex<Option<String>>,
    zone: Mutex<Option<(Instant, TimeZone)>>,
    pub(crate) journal: Journal,
    pub(crate) unconfirmed: UnconfirmedChanges,
    /// Equal changes wait for each other, so that a repetition sees what became of the first.
    in_flight: SyncMutex<HashMap<String, Arc<Mutex<()>>>>,
    /// One undo at a time, so that a repetition sees what the first took back.
    pub(crate) undoing: Mutex<()>,
    pub(crate) pending: SyncMutex<Option<PendingLogin>>,
    /// The frob of the last completed login.
    pub(crate) finished: Mutex<Option<Secret<String>>>,
    pub(crate) traffic: Traffic,
}

/// The times of the last updates of tasks and lists.
#[derive(Default)]
struct SyncState {
    tasks: Option<Instant>,
    lists: Option<Instant>,
    /// Whether the cache may be wrong in a way that an incremental update does not repair.
    reload: bool,
}

/// Counters of requests to the service, for tests and benchmarks.
#[derive(Default)]
pub(crate) struct Traffic {
    pub(crate) reloads: AtomicU64,
    pub(crate) updates: AtomicU64,
    pub(crate) reload_bytes: AtomicU64,
    pub(crate) update_bytes: AtomicU64,
}

/// The required freshness of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// At most as old as the settings allow.
    Recent,
    /// Current.
    Now,
    /// Current, including lists.
    NowWithLists,
    /// Any age, but not empty.
    Anything,
}

impl Account {
    pub(crate) fn new(settings: Settings) -> Result<Arc<Account>, Fault> {
        Ok(Arc::new(Account {
            client: Client::new(settings)?,
            cache: RwLock::default(),
            sync: Mutex::default(),
            timeline: Mutex::default(),
            zone: Mutex::default(),
            journal: Journal::default(),
            unconfirmed: UnconfirmedChanges::default(),
            in_flight: SyncMutex::default(),
            undoing: Mutex::default(),
            pending: SyncMutex::default(),
            finished: Mutex::default(),
            traffic: Traffic::default(),
        }))
    }

    /// The cache. Do not hold the guard across an await.
    pub(crate) fn cache(&self) -> RwLockReadGuard<'_, TaskCache> {
        self.cache.read()
    }

    pub(crate) fn update_cache<T>(&self, change: impl FnOnce(&mut TaskCache) -> T) -> T {
        change(&mut self.cache.write())
    }

    /// Updates the cache.
    pub(crate) async fn sync(&self, freshness: Freshness) -> Result<(), Fault> {
        let mut state = self.sync.lock().await;
        let age = |moment: Option<Instant>| moment.map(|moment| moment.elapsed());
        let fresh = self.client.settings().fresh;
        let tasks_due = match freshness {
            Freshness::Anything => state.tasks.is_none(),
            Freshness::Recent => age(state.tasks).is_none_or(|age| age > fresh),
            Freshness::Now | Freshness::NowWithLists => true,
        };
        if tasks_due || state.reload {
            self.sync_tasks(&mut state).await?;
        }
        let strangers = {
            let cache = self.cache();
            cache.tasks().any(|task| cache.list(&task.list).is_none())
        };
        let lists_due = freshness == Freshness::NowWithLists
            || age(state.lists).is_none_or(|age| age > LISTS_GOOD_FOR)
            // A task in an unknown list means a new list. A list that stays unknown is not requested every
            // time.
            || strangers && age(state.lists).is_none_or(|age| age > fresh);
        if lists_due {
            let lists = self.fetch_lists().await?;
            self.update_cache(|cache| cache.replace_lists(lists));
            state.lists = Some(Instant::now());
        }
        Ok(())
    }

    async fn sync_tasks(&self, state: &mut SyncState) -> Result<(), Fault> {
        let before = self.client.received();
        let since = if state.reload || state.tasks.is_none() { None } else { self.cache().since() };
        match since {
            Some(since) => {
                let response = self.client.read("rtm.tasks.getList", vec![("last_sync", iso(since))]).await?;
                self.update_cache(|cache| cache.apply(TaskUpdates::read(&response)));
                self.traffic.updates.fetch_add(1, Relaxed);
                self.traffic.update_bytes.fetch_add(self.client.received() - before, Relaxed);
            }
            None => {
                let response = self.client.read("rtm.tasks.getList", Vec::new()).await?;
                self.update_cache(|cache| cache.replace_tasks(TaskUpdates::read(&response)));
                self.traffic.reloads.fetch_add(1, Relaxed);
                self.traffic.reload_bytes.fetch_add(self.client.received() - before, Relaxed);
            }
        }
        state.tasks = Some(Instant::now());
        state.reload = false;
        Ok(())
    }

    async fn fetch_lists(&self) -> Result<Vec<List>, Fault> {
        let response = self.client.read("rtm.lists.getList", Vec::new()).await?;
        let places = items(&response, "lists");
        Ok(places.into_iter().flat_map(|place| items(place, "list")).filter_map(List::read).collect())
    }

    /// Marks the cache as stale, so that the next sync requests changes or everything.
    pub(crate) async fn invalidate(&self, how: Invalidation) {
        let mut state = self.sync.lock().await;
        match how {
            Invalidation::Changes if state.tasks.is_some() => {
                // Older than any caller accepts, but still a base for an incremental update.
                let long_ago = Instant::now().checked_sub(self.client.settings().fresh * 2);
                state.tasks = long_ago.or(state.tasks);
            }
            Invalidation::Changes => {}
            Invalidation::Everything => {
                state.reload = true;
                state.lists = None;
            }
        }
    }

    /// Empties the cache, because another user may be logged in now.
    pub(crate) async fn forget(&self) {
        *self.sync.lock().await = SyncState::default();
        *self.timeline.lock().await = None;
        *self.zone.lock().await = None;
        self.update_cache(|cache| *cache = TaskCache::default());
    }

    /// The timeline of all changes.
    pub(crate) async fn timeline(&self) -> Result<String, Fault> {
        let mut timeline = self.timeline.lock().await;
        if let Some(known) = &*timeline {
            return Ok(known.clone());
        }
        let answer = self.client.read("rtm.timelines.create", Vec::new()).await?;
        let made = text(&answer, "timeline");
        if made.is_empty() {
            return Err(Fault::new(&reason::TASKS_BAD_ANSWER)
                .fact("why", "no timeline in it")
                .fact("done", "nothing was changed"));
        }
        *timeline = Some(made.clone());
        Ok(made)
    }

    pub(crate) async fn forget_timeline(&self) {
        *self.timeline.lock().await = None;
    }

    /// The account's settings as the service reports them.
    pub(crate) async fn settings(&self) -> Result<Value, Fault> {
        let answer = self.client.read("rtm.settings.getList", Vec::new()).await?;
        Ok(first(answer.get("settings").cloned().unwrap_or_default()))
    }

    pub(crate) async fn zone(&self) -> Result<TimeZone, Fault> {
        let mut known = self.zone.lock().await;
        if let Some((when, zone)) = &*known
            && when.elapsed() < SETTINGS_GOOD_FOR
        {
            return Ok(zone.clone());
        }
        let settings = self.settings().await?;
        // An unknown time zone is treated as UTC.
        let zone = TimeZone::get(&text(&settings, "timezone")).unwrap_or(TimeZone::UTC);
        *known = Some((Instant::now(), zone.clone()));
        Ok(zone)
    }

    /// The current time in the account's time zone.
    pub(crate) async fn now(&self) -> Result<Zoned, Fault> {
        Ok(jiff::Timestamp::now().to_zoned(self.zone().await?))
    }
}

/// The stale part of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Invalidation {
    Changes,
    Everything,
}
