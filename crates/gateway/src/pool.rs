//! Whose connection is whose: one for all, or one for each party.
//!
//! Which of the two it is follows from what the upstream turns out to be, so the first connection is made in front,
//! and becomes the seat of whoever made it when sessions are not shared.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use failwell_fault::{Fault, reason};
use failwell_server::{Context, Party};

use crate::connection::Connection;
use crate::seat::{self, Seat};
use crate::settings::Sharing;

/// How long a seat of requests that belong to no session may stay unused.
const LONGEST_IDLE: Duration = Duration::from_secs(600);

/// The seats of one upstream.
pub(crate) struct Pool {
    front: Arc<Seat>,
    /// Whether the state says that everybody has a session of their own: every request asks, and nobody waits to.
    per_caller: AtomicBool,
    state: Mutex<State>,
    most: usize,
}

struct State {
    sharing: Option<Sharing>,
    seats: HashMap<Party, Arc<Seat>>,
}

impl Pool {
    /// Seats for at most so many; `known` when what they share is known from the start.
    pub(crate) fn new(most: usize, known: Option<Sharing>) -> Arc<Pool> {
        let per_caller = AtomicBool::new(known == Some(Sharing::PerCaller));
        let state = State { sharing: known, seats: HashMap::new() };
        Arc::new(Pool { front: Seat::empty(), per_caller, state: Mutex::new(state), most })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether everybody has a session of their own.
    pub(crate) fn is_per_caller(&self) -> bool {
        self.per_caller.load(Ordering::Acquire)
    }

    /// More is known about the upstream.
    fn learn(&self, state: &mut State, sharing: Sharing) {
        state.sharing = Some(sharing);
        self.per_caller.store(sharing == Sharing::PerCaller, Ordering::Release);
    }

    /// Who shares what, as far as it is known.
    pub(crate) fn sharing(&self) -> Sharing {
        self.lock().sharing.unwrap_or(Sharing::Shared)
    }

    /// Where the connection of this request is kept. The one used least recently makes room for a new one.
    pub(crate) fn seat(self: &Arc<Self>, cx: &Context) -> Result<Arc<Seat>, Fault> {
        if !self.is_per_caller() {
            return Ok(self.front.clone());
        }
        let mut state = self.lock();
        if state.sharing != Some(Sharing::PerCaller) {
            return Ok(self.front.clone());
        }
        let party = cx.party();
        if let Some(seat) = state.seats.get(&party) {
            return Ok(seat.clone());
        }
        state.make_room(self.most)?;
        Ok(self.take_seat(&mut state, party, Seat::empty(), cx))
    }

    /// The same, if there is one already.
    pub(crate) fn taken(&self, cx: &Context) -> Option<Arc<Seat>> {
        match self.is_per_caller() {
            true => self.lock().seats.get(&cx.party()).cloned(),
            false => Some(self.front.clone()),
        }
    }

    fn take_seat(
        self: &Arc<Self>,
        state: &mut State,
        party: Party,
        seat: Arc<Seat>,
        cx: &Context,
    ) -> Arc<Seat> {
        if let Some(ended) = cx.end_of_session() {
            let (pool, ended) = (Arc::downgrade(self), ended.clone());
            let (left, party) = (seat.left().clone(), party.clone());
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
        state.seats.insert(party, seat.clone());
        seat
    }

    fn leave(&self, party: &Party) {
        if let Some(seat) = self.lock().seats.remove(party) {
            seat.left().cancel();
        }
    }

    /// Whether connections are kept at this seat, now that more may be known about the upstream.
    pub(crate) fn uses(&self, seat: &Arc<Seat>) -> bool {
        let is_front = Arc::ptr_eq(seat, &self.front);
        is_front != self.is_per_caller() && !seat.left().is_cancelled()
    }

    /// A connection was made at `seat`: keeps it where one of its kind belongs. `Some` when that is this very seat.
    pub(crate) async fn settle(
        self: &Arc<Self>,
        seat: &Arc<Seat>,
        connection: Arc<Connection>,
        sharing: Sharing,
        cx: &Context,
    ) -> Option<Arc<Connection>> {
        let is_front = Arc::ptr_eq(seat, &self.front);
        match (sharing, is_front) {
            (Sharing::Shared, true) | (Sharing::PerCaller, false) => {
                self.learn(&mut self.lock(), sharing);
                Some(connection)
            }
            (Sharing::PerCaller, true) => {
                let mut state = self.lock();
                self.learn(&mut state, sharing);
                let _ = state.make_room(self.most);
                self.take_seat(&mut state, cx.party(), Seat::with(connection), cx);
                None
            }
            (Sharing::Shared, false) => {
                let left = {
                    let mut state = self.lock();
                    self.learn(&mut state, sharing);
                    std::mem::take(&mut state.seats)
                };
                left.values().for_each(|seat| seat.left().cancel());
                // Nobody who holds the front waits for a seat, so this cannot wait for ever.
                self.front.keep(connection).await;
                None
            }
        }
    }

    /// Leaves seats that are not used. Those of a session stay as long as it does, unless told otherwise.
    pub(crate) fn sweep(&self, idle: Option<Duration>) {
        let mut left = Vec::new();
        let mut state = self.lock();
        state.seats.retain(|party, seat| {
            let limit = idle.or_else(|| party.session.is_none().then_some(LONGEST_IDLE));
            let stays = limit.is_none_or(|limit| seat.unused() < limit) || seat.is_busy();
            if !stays {
                left.push(seat.clone());
            }
            stays
        });
        drop(state);
        left.iter().for_each(|seat| seat.left().cancel());
        if idle.is_some_and(|idle| self.front.unused() >= idle) && !self.front.is_busy() {
            self.front.clear();
        }
    }

    /// How many callers have a session of their own.
    pub(crate) fn sessions(&self) -> usize {
        self.lock().seats.len()
    }

    /// The best state of any of its connections.
    pub(crate) fn state(&self) -> seat::State {
        let mut seats: Vec<Arc<Seat>> = self.lock().seats.values().cloned().collect();
        seats.push(self.front.clone());
        let states: Vec<seat::State> = seats.iter().map(|seat| seat.state()).collect();
        let best = [seat::State::Up, seat::State::Starting, seat::State::Down];
        best.into_iter().find(|state| states.contains(state)).unwrap_or(seat::State::Idle)
    }
}

impl State {
    /// Room for one more.
    fn make_room(&mut self, most: usize) -> Result<(), Fault> {
        if self.seats.len() < most {
            return Ok(());
        }
        let idle = self.seats.iter().filter(|(_, seat)| !seat.is_busy());
        let oldest = idle.max_by_key(|(_, seat)| seat.unused()).map(|(party, _)| party.clone());
        let oldest = oldest.ok_or_else(|| Fault::new(&reason::SERVER_BUSY).fact("limit", most))?;
        if let Some(seat) = self.seats.remove(&oldest) {
            seat.left().cancel();
        }
        Ok(())
    }
}
