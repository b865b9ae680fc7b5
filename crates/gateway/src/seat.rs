//! Where one connection is kept, and what is said again when it is replaced.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use failwell_fault::{Fault, Retry, reason};
use failwell_server::{LogLevel, Watcher};
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::settings::{Sharing, UpstreamSettings};

/// The most resources watched over one connection.
const MOST_WATCHED: usize = 1_000;

/// A place for a connection.
pub(crate) struct Seat {
    /// Every request reads it, so nobody waits to.
    connection: ArcSwapOption<Connection>,
    starts: tokio::sync::Mutex<Starts>,
    made: Instant,
    /// Milliseconds from when it was made until it was last used.
    used: AtomicU64,
    wishes: Mutex<Wishes>,
    left: CancellationToken,
}

/// When connections were begun; held by whoever replaces the one there is.
#[derive(Default)]
pub(crate) struct Starts(VecDeque<Instant>);

/// What clients asked for that lasts longer than a connection.
#[derive(Default)]
struct Wishes {
    /// Resources, and who watches each.
    watched: BTreeMap<String, HashSet<Watcher>>,
    /// Sessions whose end is waited for, since they watched something.
    followed: HashSet<Watcher>,
    level: Option<LogLevel>,
}

/// Whether somebody watched a resource before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched {
    Newly,
    Already,
}

/// How a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Not started yet, or stopped because nobody needed it.
    Idle,
    /// It is being started or connected to.
    Starting,
    /// It answers.
    Up,
    /// It failed, and rests before it is tried again.
    Down,
}

impl State {
    pub(crate) const ALL: [State; 4] = [State::Idle, State::Starting, State::Up, State::Down];

    /// As it is written in metrics.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            State::Idle => "idle",
            State::Starting => "starting",
            State::Up => "up",
            State::Down => "down",
        }
    }
}

impl Seat {
    pub(crate) fn empty() -> Arc<Seat> {
        Seat::of(None, Starts::default())
    }

    pub(crate) fn with(connection: Arc<Connection>) -> Arc<Seat> {
        Seat::of(Some(connection), Starts(VecDeque::from([Instant::now()])))
    }

    fn of(connection: Option<Arc<Connection>>, starts: Starts) -> Arc<Seat> {
        Arc::new(Seat {
            connection: ArcSwapOption::new(connection),
            starts: tokio::sync::Mutex::new(starts),
            made: Instant::now(),
            used: AtomicU64::new(0),
            wishes: Mutex::default(),
            left: CancellationToken::new(),
        })
    }

    fn wishes(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody uses it.
    pub(crate) fn touch(&self) {
        let now = self.age();
        // Written only when it differs: many read it at once.
        if self.used.load(Ordering::Relaxed) != now {
            self.used.store(now, Ordering::Relaxed);
        }
    }

    /// How long nobody did.
    pub(crate) fn unused(&self) -> Duration {
        Duration::from_millis(self.age().saturating_sub(self.used.load(Ordering::Relaxed)))
    }

    fn age(&self) -> u64 {
        u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Set when nobody will use it any more.
    pub(crate) fn left(&self) -> &CancellationToken {
        &self.left
    }

    /// The connection, if it works.
    pub(crate) fn alive(&self) -> Option<Arc<Connection>> {
        self.connection.load().as_ref().filter(|connection| !connection.link.is_down()).cloned()
    }

    /// How its connection is doing.
    pub(crate) fn state(&self) -> State {
        match &*self.connection.load() {
            Some(connection) if !connection.link.is_down() => State::Up,
            _ if self.is_starting() => State::Starting,
            Some(_) => State::Down,
            None => State::Idle,
        }
    }

    /// Whether somebody waits for an answer, or for a connection.
    pub(crate) fn is_busy(&self) -> bool {
        let is_used = self.connection.load().as_ref().is_some_and(|connection| connection.link.is_busy());
        is_used || self.is_starting()
    }

    fn is_starting(&self) -> bool {
        self.starts.try_lock().is_err()
    }

    /// Waits until nobody else replaces the connection.
    pub(crate) async fn replacing(&self) -> tokio::sync::MutexGuard<'_, Starts> {
        self.starts.lock().await
    }

    /// From now on this is the connection; only for whoever replaces it.
    pub(crate) fn put(&self, connection: Option<Arc<Connection>>, _by: &mut Starts) {
        self.connection.store(connection);
    }

    /// Takes a connection that was made elsewhere.
    pub(crate) async fn keep(&self, connection: Arc<Connection>) {
        let mut starts = self.replacing().await;
        self.put(Some(connection), &mut starts);
    }

    /// Ends the connection, unless it is being replaced right now.
    pub(crate) fn clear(&self) {
        if let Ok(mut starts) = self.starts.try_lock() {
            self.put(None, &mut starts);
        }
    }

    /// Somebody watches a resource from now on.
    pub(crate) fn watch(&self, uri: &str, by: Watcher) -> Result<Watched, Fault> {
        let mut wishes = self.wishes();
        if wishes.watched.len() >= MOST_WATCHED && !wishes.watched.contains_key(uri) {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WATCHED));
        }
        let watching = wishes.watched.entry(uri.to_owned()).or_default();
        let already = !watching.is_empty();
        watching.insert(by);
        Ok(if already { Watched::Already } else { Watched::Newly })
    }

    /// Somebody watches a resource no more, and the upstream hears of it if nobody else does.
    pub(crate) fn unwatch(&self, uri: &str, by: Watcher) {
        let is_dropped = {
            let mut wishes = self.wishes();
            let watching = wishes.watched.get_mut(uri);
            let is_last = watching.is_some_and(|watching| watching.remove(&by) && watching.is_empty());
            is_last && wishes.watched.remove(uri).is_some()
        };
        if is_dropped {
            self.tell_unwatched(vec![uri.to_owned()]);
        }
    }

    /// Somebody is gone, and watches nothing any more.
    pub(crate) fn unwatch_all(&self, by: Watcher) {
        let dropped = {
            let mut wishes = self.wishes();
            wishes.followed.remove(&by);
            let last = |watching: &mut HashSet<Watcher>| watching.remove(&by) && watching.is_empty();
            wishes.watched.extract_if(.., |_, watching| last(watching)).map(|(uri, _)| uri).collect()
        };
        self.tell_unwatched(dropped);
    }

    /// The upstream was asked to tell of a resource, and whoever wanted it may have given it up meanwhile.
    pub(crate) fn unwatch_unwanted(&self, uri: &str) {
        if !self.wishes().watched.contains_key(uri) {
            self.tell_unwatched(vec![uri.to_owned()]);
        }
    }

    fn tell_unwatched(&self, uris: Vec<String>) {
        if let Some(connection) = self.alive() {
            connection.unwatch(uris);
        }
    }

    /// Whether nobody else waits for the end of a session already.
    pub(crate) fn begin_following(&self, session: Watcher) -> bool {
        self.wishes().followed.insert(session)
    }

    /// Every resource that is watched.
    pub(crate) fn watched(&self) -> Vec<String> {
        self.wishes().watched.keys().cloned().collect()
    }

    /// The level to ask the upstream for, when it is another than before. Callers who share it get as much as the one
    /// who wants most; what a caller does not want is kept from it on the way back.
    pub(crate) fn level_for(&self, wanted: LogLevel, sharing: Sharing) -> Option<LogLevel> {
        let mut wishes = self.wishes();
        let level = match wishes.level {
            Some(level) if sharing == Sharing::Shared => level.min(wanted),
            _ => wanted,
        };
        (wishes.level.replace(level) != Some(level)).then_some(level)
    }

    /// The level that was asked for.
    pub(crate) fn level(&self) -> Option<LogLevel> {
        self.wishes().level
    }
}

impl Starts {
    /// Whether the budget of starts allows another.
    pub(crate) fn may_start(&mut self, settings: &UpstreamSettings, now: Instant) -> Result<(), Fault> {
        while self.0.front().is_some_and(|first| now.duration_since(*first) >= settings.restart.window) {
            self.0.pop_front();
        }
        // The first start is no restart.
        if self.0.len() > settings.restart.budget as usize
            && let Some(first) = self.0.front()
        {
            return Err(resting(settings.restart.window.saturating_sub(now.duration_since(*first))));
        }
        self.0.push_back(now);
        Ok(())
    }
}

/// It failed too often.
pub(crate) fn resting(wait: Duration) -> Fault {
    Fault::new(&reason::GATEWAY_CIRCUIT_OPEN).retry_as(Retry::After(wait))
}
