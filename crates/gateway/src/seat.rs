//! Where one connection is kept, and what is said again when it is replaced.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::{Fault, Retry, reason};
use failwell_server::LogLevel;
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::settings::{Sharing, UpstreamSettings};

/// The most resources watched over one connection.
const MOST_WATCHED: usize = 1_000;

/// A place for a connection.
pub(crate) struct Seat {
    pub(crate) slot: tokio::sync::Mutex<Slot>,
    used: Mutex<Instant>,
    wishes: Mutex<Wishes>,
    left: CancellationToken,
}

/// The connection itself, and when there was a new one.
#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) connection: Option<Arc<Connection>>,
    starts: VecDeque<Instant>,
}

/// What clients asked for that lasts longer than a connection.
#[derive(Default)]
struct Wishes {
    /// Resources, and the sessions that watch each.
    watched: BTreeMap<String, BTreeSet<Option<u64>>>,
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
        Seat::of(Slot::default())
    }

    pub(crate) fn with(connection: Arc<Connection>) -> Arc<Seat> {
        Seat::of(Slot { connection: Some(connection), starts: VecDeque::from([Instant::now()]) })
    }

    fn of(slot: Slot) -> Arc<Seat> {
        Arc::new(Seat {
            slot: tokio::sync::Mutex::new(slot),
            used: Mutex::new(Instant::now()),
            wishes: Mutex::default(),
            left: CancellationToken::new(),
        })
    }

    fn wishes(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody uses it.
    pub(crate) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// How long nobody did.
    pub(crate) fn unused(&self) -> Duration {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Set when nobody will use it any more.
    pub(crate) fn left(&self) -> &CancellationToken {
        &self.left
    }

    /// The connection, if it works and nobody is replacing it.
    pub(crate) fn alive(&self) -> Option<Arc<Connection>> {
        self.slot.try_lock().ok()?.alive()
    }

    /// How its connection is doing.
    pub(crate) fn state(&self) -> State {
        match self.slot.try_lock() {
            Err(_) => State::Starting,
            Ok(slot) => match &slot.connection {
                Some(connection) if connection.link.is_down() => State::Down,
                Some(_) => State::Up,
                None => State::Idle,
            },
        }
    }

    /// Whether somebody waits for an answer, or for a connection.
    pub(crate) fn is_busy(&self) -> bool {
        match self.slot.try_lock() {
            Ok(slot) => slot.connection.as_ref().is_some_and(|connection| connection.link.is_busy()),
            Err(_) => true,
        }
    }

    /// Takes a connection that was made elsewhere.
    pub(crate) async fn keep(&self, connection: Arc<Connection>) {
        self.slot.lock().await.connection = Some(connection);
    }

    /// Ends the connection, unless it is being replaced right now.
    pub(crate) fn clear(&self) {
        if let Ok(mut slot) = self.slot.try_lock() {
            slot.connection = None;
        }
    }

    /// A session watches a resource from now on.
    pub(crate) fn watch(&self, uri: &str, session: Option<u64>) -> Result<Watched, Fault> {
        let mut wishes = self.wishes();
        if wishes.watched.len() >= MOST_WATCHED && !wishes.watched.contains_key(uri) {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WATCHED));
        }
        let watching = wishes.watched.entry(uri.to_owned()).or_default();
        let already = !watching.is_empty();
        watching.insert(session);
        Ok(if already { Watched::Already } else { Watched::Newly })
    }

    /// A session watches these resources no more, or none at all: those nobody watches any more.
    pub(crate) fn unwatch(&self, uri: Option<&str>, session: Option<u64>) -> Vec<String> {
        let mut dropped = Vec::new();
        self.wishes().watched.retain(|watched, sessions| {
            if uri.is_none_or(|uri| uri == watched) {
                sessions.remove(&session);
            }
            if sessions.is_empty() {
                dropped.push(watched.clone());
            }
            !sessions.is_empty()
        });
        dropped
    }

    /// Whether a session watches anything.
    pub(crate) fn is_watching(&self, session: Option<u64>) -> bool {
        self.wishes().watched.values().any(|sessions| sessions.contains(&session))
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

impl Slot {
    /// The connection, if it works.
    pub(crate) fn alive(&self) -> Option<Arc<Connection>> {
        self.connection.as_ref().filter(|connection| !connection.link.is_down()).cloned()
    }

    /// Whether the budget of starts allows another.
    pub(crate) fn may_start(&mut self, settings: &UpstreamSettings, now: Instant) -> Result<(), Fault> {
        while self.starts.front().is_some_and(|first| now.duration_since(*first) >= settings.restart.window) {
            self.starts.pop_front();
        }
        // The first start is no restart.
        if self.starts.len() > settings.restart.budget as usize
            && let Some(first) = self.starts.front()
        {
            return Err(resting(settings.restart.window.saturating_sub(now.duration_since(*first))));
        }
        self.starts.push_back(now);
        Ok(())
    }
}

/// It failed too often.
pub(crate) fn resting(wait: Duration) -> Fault {
    Fault::new(&reason::GATEWAY_CIRCUIT_OPEN).retry_as(Retry::After(wait))
}
