//! The connection slots of one upstream: one for all callers, or one per party.
//!
//! The upstream decides which by keeping a session or not. The first connection is therefore opened in the shared
//! slot, and moved to the caller's own slot if sessions are not shared.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use failwell_fault::{Fault, Retry, reason};
use failwell_toolbox::{CallerSession, Context};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::upstream::connection::UpstreamConnection;
use crate::upstream::connection::channel::Channel;
use crate::upstream::settings::{SessionSharing, UpstreamSettings};
use crate::upstream::subscriptions::Subscriptions;

/// The idle limit of slots that belong to no session.
const LONGEST_IDLE: Duration = Duration::from_secs(600);
/// Uses closer together than this, in microseconds, count as one.
const USE_PRECISION: u64 = 100;

/// A connection and the slot that stores it.
#[derive(Clone)]
pub(crate) struct PooledConnection {
    pub(crate) slot: Arc<ConnectionSlot>,
    pub(crate) connection: Arc<UpstreamConnection>,
}

pub(crate) struct ConnectionPool {
    front: Arc<ConnectionSlot>,
    /// Mirrors `state.sharing`: every request reads it without the lock.
    per_caller: AtomicBool,
    state: Mutex<PoolState>,
    most: usize,
}

struct PoolState {
    sharing: Option<SessionSharing>,
    slots: HashMap<CallerSession, Arc<ConnectionSlot>>,
}

impl ConnectionPool {
    /// `most` bounds the per-caller slots; `known` is the sharing, if settings decide it.
    pub(crate) fn new(most: usize, known: Option<SessionSharing>) -> Arc<ConnectionPool> {
        let per_caller = AtomicBool::new(known == Some(SessionSharing::PerCaller));
        let state = PoolState { sharing: known, slots: HashMap::new() };
        Arc::new(ConnectionPool {
            front: ConnectionSlot::empty(),
            per_caller,
            state: Mutex::new(state),
            most,
        })
    }

    pub(crate) fn is_per_caller(&self) -> bool {
        self.per_caller.load(Ordering::Acquire)
    }

    fn learn(&self, state: &mut PoolState, sharing: SessionSharing) {
        state.sharing = Some(sharing);
        self.per_caller.store(sharing == SessionSharing::PerCaller, Ordering::Release);
    }

    pub(crate) fn sharing(&self) -> SessionSharing {
        self.state.lock().sharing.unwrap_or(SessionSharing::Shared)
    }

    /// The slot for this request. A new slot may evict the least recently used one.
    pub(crate) fn slot(self: &Arc<Self>, cx: &Context) -> Result<Arc<ConnectionSlot>, Fault> {
        if !self.is_per_caller() {
            return Ok(self.front.clone());
        }
        let mut state = self.state.lock();
        if state.sharing != Some(SessionSharing::PerCaller) {
            return Ok(self.front.clone());
        }
        let caller_session = cx.caller_session();
        if let Some(slot) = state.slots.get(&caller_session) {
            return Ok(slot.clone());
        }
        state.evict_if_full(self.most)?;
        Ok(self.insert_slot(&mut state, caller_session, ConnectionSlot::empty(), cx))
    }

    pub(crate) fn existing_slot(&self, cx: &Context) -> Option<Arc<ConnectionSlot>> {
        match self.is_per_caller() {
            true => self.state.lock().slots.get(&cx.caller_session()).cloned(),
            false => Some(self.front.clone()),
        }
    }

    fn insert_slot(
        self: &Arc<Self>,
        state: &mut PoolState,
        caller_session: CallerSession,
        slot: Arc<ConnectionSlot>,
        cx: &Context,
    ) -> Arc<ConnectionSlot> {
        if let Some(ended) = cx.end_of_session() {
            let (pool, ended) = (Arc::downgrade(self), ended.clone());
            let (left, caller_session) = (slot.released().clone(), caller_session.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = left.cancelled() => {}
                    () = ended.cancelled() => {
                        if let Some(pool) = pool.upgrade() {
                            pool.leave(&caller_session);
                        }
                    }
                }
            });
        }
        state.slots.insert(caller_session, slot.clone());
        slot
    }

    fn leave(&self, caller_session: &CallerSession) {
        if let Some(slot) = self.state.lock().slots.remove(caller_session) {
            slot.released().cancel();
        }
    }

    /// Whether this slot is still in use, now that the sharing may be known.
    pub(crate) fn owns(&self, slot: &Arc<ConnectionSlot>) -> bool {
        let is_front = Arc::ptr_eq(slot, &self.front);
        is_front != self.is_per_caller() && !slot.released().is_cancelled()
    }

    /// Stores a new connection in the slot where it belongs. Returns it if that is the given slot.
    pub(crate) async fn place(
        self: &Arc<Self>,
        slot: &Arc<ConnectionSlot>,
        connection: Arc<UpstreamConnection>,
        sharing: SessionSharing,
        cx: &Context,
    ) -> Option<Arc<UpstreamConnection>> {
        let is_front = Arc::ptr_eq(slot, &self.front);
        match (sharing, is_front) {
            (SessionSharing::Shared, true) | (SessionSharing::PerCaller, false) => {
                self.learn(&mut self.state.lock(), sharing);
                Some(connection)
            }
            (SessionSharing::PerCaller, true) => {
                let mut state = self.state.lock();
                self.learn(&mut state, sharing);
                let _ = state.evict_if_full(self.most);
                self.insert_slot(&mut state, cx.caller_session(), ConnectionSlot::with(connection), cx);
                None
            }
            (SessionSharing::Shared, false) => {
                let left = {
                    let mut state = self.state.lock();
                    self.learn(&mut state, sharing);
                    std::mem::take(&mut state.slots)
                };
                left.values().for_each(|slot| slot.released().cancel());
                // The holder of the shared slot never waits for another slot, so this cannot deadlock.
                self.front.store(connection).await;
                None
            }
        }
    }

    /// Releases idle slots. Slots of a session stay until it ends, unless `idle` limits them.
    pub(crate) fn sweep(&self, idle: Option<Duration>) {
        let mut left = Vec::new();
        let mut state = self.state.lock();
        state.slots.retain(|caller_session, slot| {
            let limit = idle.or_else(|| caller_session.session.is_none().then_some(LONGEST_IDLE));
            let stays = limit.is_none_or(|limit| slot.unused() < limit) || slot.is_busy();
            if !stays {
                left.push(slot.clone());
            }
            stays
        });
        drop(state);
        left.iter().for_each(|slot| slot.released().cancel());
        if idle.is_some_and(|idle| self.front.unused() >= idle) && !self.front.is_busy() {
            self.front.clear();
        }
    }

    pub(crate) fn sessions(&self) -> usize {
        self.state.lock().slots.len()
    }

    pub(crate) fn state(&self) -> UpstreamStatus {
        let mut slots: Vec<Arc<ConnectionSlot>> = self.state.lock().slots.values().cloned().collect();
        slots.push(self.front.clone());
        let states: Vec<UpstreamStatus> = slots.iter().map(|slot| slot.state()).collect();
        let best = [UpstreamStatus::Up, UpstreamStatus::Starting, UpstreamStatus::Down];
        best.into_iter().find(|state| states.contains(state)).unwrap_or(UpstreamStatus::Idle)
    }
}

impl PoolState {
    /// Evicts the least recently used idle slot if the pool is full.
    fn evict_if_full(&mut self, most: usize) -> Result<(), Fault> {
        if self.slots.len() < most {
            return Ok(());
        }
        let idle = self.slots.iter().filter(|(_, slot)| !slot.is_busy());
        let oldest =
            idle.min_by_key(|(_, slot)| slot.last_use()).map(|(caller_session, _)| caller_session.clone());
        let oldest = oldest.ok_or_else(|| Fault::new(&reason::SERVER_BUSY).fact("limit", most))?;
        if let Some(slot) = self.slots.remove(&oldest) {
            slot.released().cancel();
        }
        Ok(())
    }
}

/// A slot for one connection.
pub(crate) struct ConnectionSlot {
    /// Read by every request, so it is lock-free.
    connection: ArcSwapOption<UpstreamConnection>,
    starts: tokio::sync::Mutex<StartHistory>,
    created: Instant,
    /// Microseconds from `created` to the last use.
    used: AtomicU64,
    pub(super) subscriptions: Mutex<Subscriptions>,
    released: CancellationToken,
}

/// The times of recent starts. The lock is held while the connection is replaced.
#[derive(Default)]
pub(crate) struct StartHistory(VecDeque<Instant>);

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

    /// The connection, if it is neither closed nor silent.
    pub(crate) fn alive(&self) -> Option<Arc<UpstreamConnection>> {
        let is_alive = |channel: &Channel| !channel.is_closed() && !channel.is_silent();
        self.connection.load().as_ref().filter(|connection| is_alive(&connection.channel)).cloned()
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

#[cfg(test)]
mod model;
