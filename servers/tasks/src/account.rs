//! One account: what is known of it, and how it is changed. Everybody who asks this server shares it.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex as Plain, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use failwell_fault::{Fault, Secret, reason};
use jiff::Zoned;
use jiff::tz::TimeZone;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::book::Book;
use crate::client::Client;
use crate::dates::iso;
use crate::doubt::Doubts;
use crate::journal::Journal;
use crate::login::Pending;
use crate::model::{List, Told};
use crate::settings::Settings;
use crate::shape::{first, items, text};

/// How old the lists may be: they seldom change.
const LISTS_GOOD_FOR: Duration = Duration::from_secs(300);
/// How old the settings may be.
const SETTINGS_GOOD_FOR: Duration = Duration::from_secs(3_600);

/// One account.
pub(crate) struct Account {
    pub(crate) client: Client,
    book: RwLock<Book>,
    sync: Mutex<Reads>,
    timeline: Mutex<Option<String>>,
    zone: Mutex<Option<(Instant, TimeZone)>>,
    pub(crate) journal: Journal,
    pub(crate) doubts: Doubts,
    pub(crate) pending: Plain<Option<Pending>>,
    /// The frob of the last login that was completed.
    pub(crate) finished: Mutex<Option<Secret<String>>>,
    pub(crate) traffic: Traffic,
}

/// When what was read.
#[derive(Default)]
struct Reads {
    tasks: Option<Instant>,
    lists: Option<Instant>,
    /// What is known may be wrong in a way that changes alone do not tell.
    reload: bool,
}

/// How much was asked for, for whoever watches.
#[derive(Default)]
pub(crate) struct Traffic {
    pub(crate) reloads: AtomicU64,
    pub(crate) updates: AtomicU64,
    pub(crate) reload_bytes: AtomicU64,
    pub(crate) update_bytes: AtomicU64,
}

/// How new what is known must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// As new as the settings say is good enough.
    Recent,
    /// As new as it can be.
    Now,
    /// Lists too.
    NowWithLists,
    /// Whatever there is, if there is anything.
    Anything,
}

impl Account {
    pub(crate) fn new(settings: Settings) -> Result<Arc<Account>, Fault> {
        Ok(Arc::new(Account {
            client: Client::new(settings)?,
            book: RwLock::default(),
            sync: Mutex::default(),
            timeline: Mutex::default(),
            zone: Mutex::default(),
            journal: Journal::default(),
            doubts: Doubts::default(),
            pending: Plain::default(),
            finished: Mutex::default(),
            traffic: Traffic::default(),
        }))
    }

    /// What is known. Never held across a wait.
    pub(crate) fn book(&self) -> RwLockReadGuard<'_, Book> {
        self.book.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn change_book<T>(&self, change: impl FnOnce(&mut Book) -> T) -> T {
        change(&mut self.book.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Brings what is known up to date.
    pub(crate) async fn sync(&self, need: Need) -> Result<(), Fault> {
        let mut state = self.sync.lock().await;
        let age = |moment: Option<Instant>| moment.map(|moment| moment.elapsed());
        let fresh = self.client.settings().fresh;
        let tasks_due = match need {
            Need::Anything => state.tasks.is_none(),
            Need::Recent => age(state.tasks).is_none_or(|age| age > fresh),
            Need::Now | Need::NowWithLists => true,
        };
        if tasks_due || state.reload {
            self.sync_tasks(&mut state).await?;
        }
        let strangers = {
            let book = self.book();
            book.tasks().any(|task| book.list(&task.list).is_none())
        };
        let lists_due = need == Need::NowWithLists
            || age(state.lists).is_none_or(|age| age > LISTS_GOOD_FOR)
            // A list nobody knows is a new one; one that stays unknown is not asked for all the time.
            || strangers && age(state.lists).is_none_or(|age| age > fresh);
        if lists_due {
            let lists = self.fetch_lists().await?;
            self.change_book(|book| book.replace_lists(lists));
            state.lists = Some(Instant::now());
        }
        Ok(())
    }

    async fn sync_tasks(&self, state: &mut Reads) -> Result<(), Fault> {
        let before = self.client.received();
        let since = if state.reload || state.tasks.is_none() { None } else { self.book().since() };
        match since {
            Some(since) => {
                let told = self.client.read("rtm.tasks.getList", vec![("last_sync", iso(since))]).await?;
                self.change_book(|book| book.apply(Told::read(&told)));
                self.traffic.updates.fetch_add(1, Relaxed);
                self.traffic.update_bytes.fetch_add(self.client.received() - before, Relaxed);
            }
            None => {
                let told = self.client.read("rtm.tasks.getList", Vec::new()).await?;
                self.change_book(|book| book.replace_tasks(Told::read(&told)));
                self.traffic.reloads.fetch_add(1, Relaxed);
                self.traffic.reload_bytes.fetch_add(self.client.received() - before, Relaxed);
            }
        }
        state.tasks = Some(Instant::now());
        state.reload = false;
        Ok(())
    }

    async fn fetch_lists(&self) -> Result<Vec<List>, Fault> {
        let told = self.client.read("rtm.lists.getList", Vec::new()).await?;
        let places = items(&told, "lists");
        Ok(places.into_iter().flat_map(|place| items(place, "list")).filter_map(List::read).collect())
    }

    /// What is known of tasks is not enough: the next look asks for changes, or for everything.
    pub(crate) async fn distrust(&self, how: Distrust) {
        let mut state = self.sync.lock().await;
        match how {
            Distrust::Changes if state.tasks.is_some() => {
                // Old enough for everybody, without being unknown.
                let long_ago = Instant::now().checked_sub(self.client.settings().fresh * 2);
                state.tasks = long_ago.or(state.tasks);
            }
            Distrust::Changes => {}
            Distrust::Everything => {
                state.reload = true;
                state.lists = None;
            }
        }
    }

    /// Nothing is known any more: somebody else may be logged in now.
    pub(crate) async fn forget(&self) {
        *self.sync.lock().await = Reads::default();
        *self.timeline.lock().await = None;
        *self.zone.lock().await = None;
        self.change_book(|book| *book = Book::default());
    }

    /// The timeline changes belong to: one for all of them.
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

    /// The account's settings as the service tells them.
    pub(crate) async fn settings(&self) -> Result<Value, Fault> {
        let answer = self.client.read("rtm.settings.getList", Vec::new()).await?;
        Ok(first(answer.get("settings").cloned().unwrap_or_default()))
    }

    /// The account's time zone.
    pub(crate) async fn zone(&self) -> Result<TimeZone, Fault> {
        let mut known = self.zone.lock().await;
        if let Some((when, zone)) = &*known
            && when.elapsed() < SETTINGS_GOOD_FOR
        {
            return Ok(zone.clone());
        }
        let settings = self.settings().await?;
        // A zone this program has never heard of is better told as UTC than not at all.
        let zone = TimeZone::get(&text(&settings, "timezone")).unwrap_or(TimeZone::UTC);
        *known = Some((Instant::now(), zone.clone()));
        Ok(zone)
    }

    /// Where the account's clocks stand.
    pub(crate) async fn now(&self) -> Result<Zoned, Fault> {
        Ok(jiff::Timestamp::now().to_zoned(self.zone().await?))
    }
}

/// How far what is known is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distrust {
    Changes,
    Everything,
}
