//! The connection slots of one upstream: one for all callers, or one per party.
//!
//! The upstream decides which by keeping a session or not. The first connection is therefore opened in the shared
//! slot, and moved to the caller's own slot if sessions are not shared.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use failwell_fault::{Fault, reason};
use failwell_toolbox::{Context, Party};

use crate::upstream::connection::UpstreamConnection;
use crate::upstream::connection_slot::{ConnectionSlot, UpstreamStatus};
use crate::upstream::settings::SessionSharing;

/// The idle limit of slots that belong to no session.
const LONGEST_IDLE: Duration = Duration::from_secs(600);

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
    slots: HashMap<Party, Arc<ConnectionSlot>>,
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

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_per_caller(&self) -> bool {
        self.per_caller.load(Ordering::Acquire)
    }

    fn learn(&self, state: &mut PoolState, sharing: SessionSharing) {
        state.sharing = Some(sharing);
        self.per_caller.store(sharing == SessionSharing::PerCaller, Ordering::Release);
    }

    pub(crate) fn sharing(&self) -> SessionSharing {
        self.lock().sharing.unwrap_or(SessionSharing::Shared)
    }

    /// The slot for this request. A new slot may evict the least recently used one.
    pub(crate) fn slot(self: &Arc<Self>, cx: &Context) -> Result<Arc<ConnectionSlot>, Fault> {
        if !self.is_per_caller() {
            return Ok(self.front.clone());
        }
        let mut state = self.lock();
        if state.sharing != Some(SessionSharing::PerCaller) {
            return Ok(self.front.clone());
        }
        let party = cx.party();
        if let Some(slot) = state.slots.get(&party) {
            return Ok(slot.clone());
        }
        state.evict_if_full(self.most)?;
        Ok(self.insert_slot(&mut state, party, ConnectionSlot::empty(), cx))
    }

    pub(crate) fn existing_slot(&self, cx: &Context) -> Option<Arc<ConnectionSlot>> {
        match self.is_per_caller() {
            true => self.lock().slots.get(&cx.party()).cloned(),
            false => Some(self.front.clone()),
        }
    }

    fn insert_slot(
        self: &Arc<Self>,
        state: &mut PoolState,
        party: Party,
        slot: Arc<ConnectionSlot>,
        cx: &Context,
    ) -> Arc<ConnectionSlot> {
        if let Some(ended) = cx.end_of_session() {
            let (pool, ended) = (Arc::downgrade(self), ended.clone());
            let (left, party) = (slot.released().clone(), party.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = left.cancelled() => {}
                    () = ended.cancelled() => {
                        if let Some(pool) = pool.upgrade() {
                            pool.leave(&party);
                        }
                    }
                }
            });
        }
        state.slots.insert(party, slot.clone());
        slot
    }

    fn leave(&self, party: &Party) {
        if let Some(slot) = self.lock().slots.remove(party) {
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
                self.learn(&mut self.lock(), sharing);
                Some(connection)
            }
            (SessionSharing::PerCaller, true) => {
                let mut state = self.lock();
                self.learn(&mut state, sharing);
                let _ = state.evict_if_full(self.most);
                self.insert_slot(&mut state, cx.party(), ConnectionSlot::with(connection), cx);
                None
            }
            (SessionSharing::Shared, false) => {
                let left = {
                    let mut state = self.lock();
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
        let mut state = self.lock();
        state.slots.retain(|party, slot| {
            let limit = idle.or_else(|| party.session.is_none().then_some(LONGEST_IDLE));
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
        self.lock().slots.len()
    }

    pub(crate) fn state(&self) -> UpstreamStatus {
        let mut slots: Vec<Arc<ConnectionSlot>> = self.lock().slots.values().cloned().collect();
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
        let oldest = idle.min_by_key(|(_, slot)| slot.last_use()).map(|(party, _)| party.clone());
        let oldest = oldest.ok_or_else(|| Fault::new(&reason::SERVER_BUSY).fact("limit", most))?;
        if let Some(slot) = self.slots.remove(&oldest) {
            slot.released().cancel();
        }
        Ok(())
    }
}

#[cfg(test)]
mod model;
