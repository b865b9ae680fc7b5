//! A slot for one connection, and the subscriptions that survive its replacement.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use failwell_fault::{Fault, Retry, reason};
use failwell_toolbox::{LogLevel, Watcher};
use tokio_util::sync::CancellationToken;

use crate::upstream::connection::UpstreamConnection;
use crate::upstream::settings::{SessionSharing, UpstreamSettings};

const MOST_WATCHED: usize = 1_000;
/// Uses closer together than this, in microseconds, count as one.
const USE_PRECISION: u64 = 100;

pub(crate) struct ConnectionSlot {
    /// Read by every request, so it is lock-free.
    connection: ArcSwapOption<UpstreamConnection>,
    starts: tokio::sync::Mutex<StartHistory>,
    created: Instant,
    /// Microseconds from `created` to the last use.
    used: AtomicU64,
    subscriptions: Mutex<Subscriptions>,
    released: CancellationToken,
}

/// The times of recent starts. The lock is held while the connection is replaced.
#[derive(Default)]
pub(crate) struct StartHistory(VecDeque<Instant>);

/// State that clients set and that outlives a connection.
#[derive(Default)]
struct Subscriptions {
    /// Watched resources and their watchers.
    watched: BTreeMap<String, HashSet<Watcher>>,
    /// Sessions whose subscriptions are removed when they end.
    followed: HashSet<Watcher>,
    level: Option<LogLevel>,
}

/// Whether the resource was already watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchOutcome {
    New,
    Existing,
}

/// The status of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UpstreamStatus {
    /// Not started, or stopped when idle.
    Idle,
    Starting,
    Up,
    /// Failed, and backing off.
    Down,
}

impl UpstreamStatus {
    pub(crate) const ALL: [UpstreamStatus; 4] =
        [UpstreamStatus::Idle, UpstreamStatus::Starting, UpstreamStatus::Up, UpstreamStatus::Down];

    /// The label in metrics.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            UpstreamStatus::Idle => "idle",
            UpstreamStatus::Starting => "starting",
            UpstreamStatus::Up => "up",
            UpstreamStatus::Down => "down",
        }
    }
}

impl ConnectionSlot {
    pub(crate) fn empty() -> Arc<ConnectionSlot> {
        ConnectionSlot::new(None, StartHistory::default())
    }

    pub(crate) fn with(connection: Arc<UpstreamConnection>) -> Arc<ConnectionSlot> {
        ConnectionSlot::new(Some(connection), StartHistory(VecDeque::from([Instant::now()])))
    }

    fn new(connection: Option<Arc<UpstreamConnection>>, starts: StartHistory) -> Arc<ConnectionSlot> {
        Arc::new(ConnectionSlot {
            connection: ArcSwapOption::new(connection),
            starts: tokio::sync::Mutex::new(starts),
            created: Instant::now(),
            used: AtomicU64::new(0),
            subscriptions: Mutex::default(),
            released: CancellationToken::new(),
        })
    }

    fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a use.
    pub(crate) fn touch(&self) {
        let now = u64::try_from(self.created.elapsed().as_micros()).unwrap_or(u64::MAX);
        // Written only if it differs, to keep the cache line shared between cores.
        if now.saturating_sub(self.used.load(Ordering::Relaxed)) >= USE_PRECISION {
            self.used.store(now, Ordering::Relaxed);
        }
    }

    pub(crate) fn last_use(&self) -> Instant {
        self.created + Duration::from_micros(self.used.load(Ordering::Relaxed))
    }

    /// The time since the last use.
    pub(crate) fn unused(&self) -> Duration {
        self.last_use().elapsed()
    }

    /// Cancelled when the slot is removed from its pool.
    pub(crate) fn released(&self) -> &CancellationToken {
        &self.released
    }

    /// The connection, if it is not closed.
    pub(crate) fn alive(&self) -> Option<Arc<UpstreamConnection>> {
        self.connection.load().as_ref().filter(|connection| !connection.channel.is_closed()).cloned()
    }

    pub(crate) fn state(&self) -> UpstreamStatus {
        match &*self.connection.load() {
            Some(connection) if !connection.channel.is_closed() => UpstreamStatus::Up,
            _ if self.is_starting() => UpstreamStatus::Starting,
            Some(_) => UpstreamStatus::Down,
            None => UpstreamStatus::Idle,
        }
    }

    /// Whether a request is pending or a connection is being opened.
    pub(crate) fn is_busy(&self) -> bool {
        let is_used = self.connection.load().as_ref().is_some_and(|connection| connection.channel.is_busy());
        is_used || self.is_starting()
    }

    fn is_starting(&self) -> bool {
        self.starts.try_lock().is_err()
    }

    /// Locks the slot for replacing its connection.
    pub(crate) async fn lock_starts(&self) -> tokio::sync::MutexGuard<'_, StartHistory> {
        self.starts.lock().await
    }

    /// Sets the connection; the argument proves that the slot is locked.
    pub(crate) fn set(&self, connection: Option<Arc<UpstreamConnection>>, _by: &mut StartHistory) {
        self.connection.store(connection);
    }

    /// Stores a connection that was opened for another slot.
    pub(crate) async fn store(&self, connection: Arc<UpstreamConnection>) {
        let mut starts = self.lock_starts().await;
        self.set(Some(connection), &mut starts);
    }

    /// Drops the connection, unless it is being replaced.
    pub(crate) fn clear(&self) {
        if let Ok(mut starts) = self.starts.try_lock() {
            self.set(None, &mut starts);
        }
    }

    pub(crate) fn watch(&self, uri: &str, by: Watcher) -> Result<WatchOutcome, Fault> {
        let mut subscriptions = self.subscriptions();
        if subscriptions.watched.len() >= MOST_WATCHED && !subscriptions.watched.contains_key(uri) {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WATCHED));
        }
        let watching = subscriptions.watched.entry(uri.to_owned()).or_default();
        let already = !watching.is_empty();
        watching.insert(by);
        Ok(if already { WatchOutcome::Existing } else { WatchOutcome::New })
    }

    /// Removes a watcher, and unsubscribes if it was the last one.
    pub(crate) fn unwatch(&self, uri: &str, by: Watcher) {
        let is_dropped = {
            let mut subscriptions = self.subscriptions();
            let watching = subscriptions.watched.get_mut(uri);
            let is_last = watching.is_some_and(|watching| watching.remove(&by) && watching.is_empty());
            is_last && subscriptions.watched.remove(uri).is_some()
        };
        if is_dropped {
            self.tell_unwatched(vec![uri.to_owned()]);
        }
    }

    /// Removes a watcher from all resources.
    pub(crate) fn unwatch_all(&self, by: Watcher) {
        let dropped = {
            let mut subscriptions = self.subscriptions();
            subscriptions.followed.remove(&by);
            let last = |watching: &mut HashSet<Watcher>| watching.remove(&by) && watching.is_empty();
            subscriptions.watched.extract_if(.., |_, watching| last(watching)).map(|(uri, _)| uri).collect()
        };
        self.tell_unwatched(dropped);
    }

    /// Unsubscribes if the last watcher left while the upstream was being asked.
    pub(crate) fn drop_unused_watch(&self, uri: &str) {
        if !self.subscriptions().watched.contains_key(uri) {
            self.tell_unwatched(vec![uri.to_owned()]);
        }
    }

    fn tell_unwatched(&self, uris: Vec<String>) {
        if let Some(connection) = self.alive() {
            connection.unwatch(uris);
        }
    }

    /// Returns whether the end of this session was not yet followed.
    pub(crate) fn begin_following(&self, session: Watcher) -> bool {
        self.subscriptions().followed.insert(session)
    }

    pub(crate) fn watched(&self) -> Vec<String> {
        self.subscriptions().watched.keys().cloned().collect()
    }

    /// The log level to request, if it changes. Callers that share the connection get the most verbose level;
    /// messages below a caller's own level are filtered later.
    pub(crate) fn level_for(&self, wanted: LogLevel, sharing: SessionSharing) -> Option<LogLevel> {
        let mut subscriptions = self.subscriptions();
        let level = match subscriptions.level {
            Some(level) if sharing == SessionSharing::Shared => level.min(wanted),
            _ => wanted,
        };
        (subscriptions.level.replace(level) != Some(level)).then_some(level)
    }

    pub(crate) fn level(&self) -> Option<LogLevel> {
        self.subscriptions().level
    }
}

impl StartHistory {
    pub(crate) fn may_start(&mut self, settings: &UpstreamSettings, now: Instant) -> Result<(), Fault> {
        while self.0.front().is_some_and(|first| now.duration_since(*first) >= settings.restart.window) {
            self.0.pop_front();
        }
        // The first start does not count as a restart.
        if self.0.len() > settings.restart.budget as usize
            && let Some(first) = self.0.front()
        {
            return Err(circuit_open(settings.restart.window.saturating_sub(now.duration_since(*first))));
        }
        self.0.push_back(now);
        Ok(())
    }
}

/// The fault while the upstream is backing off.
pub(crate) fn circuit_open(wait: Duration) -> Fault {
    Fault::new(&reason::GATEWAY_CIRCUIT_OPEN).retry_as(Retry::After(wait))
}
