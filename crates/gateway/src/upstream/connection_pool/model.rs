//! Random callers. A model of the pool says who has which slot, which one is evicted, and who is refused.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use failwell_fault::reason;
use failwell_rpc::Caller;
use failwell_toolbox::Context;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

use super::{ConnectionPool, SessionSharing};
use crate::upstream::connection::UpstreamConnection;
use crate::upstream::connection::channel::PendingResponse;
use crate::upstream::connection::request_mux::order::context;
use crate::upstream::connection::{close_reason::CloseReason, request_mux::RequestMux};
use crate::upstream::connection_pool::ConnectionSlot;

const MOST: usize = 3;
const CALLERS: usize = 6;
/// Between two uses, in microseconds. Slots of one test are created closer together.
const TICK: u64 = 60_000_000;

/// The number is a caller.
#[derive(Debug, Clone, Copy)]
enum PoolOperation {
    /// A caller needs a connection. A new one turns out to be shared, or the caller's own.
    Join(usize, SessionSharing),
    Acquire(usize),
    Answer(usize),
    Die(usize),
    Leave(usize),
    Sweep,
}

fn operation() -> impl Strategy<Value = PoolOperation> {
    let caller = || 0..CALLERS;
    prop_oneof![
        8 => caller().prop_map(|caller| PoolOperation::Join(caller, SessionSharing::PerCaller)),
        1 => caller().prop_map(|caller| PoolOperation::Join(caller, SessionSharing::Shared)),
        4 => caller().prop_map(PoolOperation::Acquire),
        3 => caller().prop_map(PoolOperation::Answer),
        2 => caller().prop_map(PoolOperation::Die),
        1 => caller().prop_map(PoolOperation::Leave),
        1 => Just(PoolOperation::Sweep),
    ]
}

/// A connection in its slot.
struct SlotUser {
    slot: Arc<ConnectionSlot>,
    mux: Arc<RequestMux>,
    asked: Vec<PendingResponse>,
    is_dead: bool,
    used: u64,
}

struct PoolModel {
    pool: Arc<ConnectionPool>,
    callers: Vec<Context>,
    /// The connection that all callers share.
    front: Option<SlotUser>,
    /// Callers with a slot of their own.
    users: BTreeMap<usize, SlotUser>,
    is_per_caller: bool,
    left: Vec<Arc<ConnectionSlot>>,
    clock: u64,
}

fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut TaskContext::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

impl PoolModel {
    fn new() -> PoolModel {
        let of = |number: usize| context(Caller::keyholder(&number.to_string()), &Arc::default());
        PoolModel {
            pool: ConnectionPool::new(MOST, None),
            callers: (0..CALLERS).map(of).collect(),
            front: None,
            users: BTreeMap::new(),
            is_per_caller: false,
            left: Vec::new(),
            clock: 0,
        }
    }

    fn apply(&mut self, operation: PoolOperation) {
        match operation {
            PoolOperation::Join(caller, sharing) => self.come(caller, sharing),
            PoolOperation::Acquire(caller) => {
                if let Some(held) = self.held(caller) {
                    let sent = now(held.mux.send("ping", |_, out| out.push_str("{}"), None));
                    assert_eq!(sent.as_ref().is_some_and(Result::is_err), held.is_dead);
                    held.asked.extend(sent.and_then(Result::ok));
                }
            }
            PoolOperation::Answer(caller) => {
                if let Some(held) = self.held(caller) {
                    held.asked.clear();
                }
            }
            PoolOperation::Die(caller) => {
                if let Some(held) = self.held(caller) {
                    held.mux.close(&CloseReason::Lost);
                    held.asked.clear();
                    held.is_dead = true;
                }
            }
            PoolOperation::Leave(caller) => {
                self.pool.leave(&self.callers[caller].caller_session());
                self.left.extend(self.users.remove(&caller).map(|held| held.slot));
            }
            PoolOperation::Sweep => {
                self.pool.sweep(Some(Duration::ZERO));
                let is_idle = |_: &usize, held: &mut SlotUser| held.asked.is_empty();
                let left: Vec<_> = self.users.extract_if(.., is_idle).collect();
                self.left.extend(left.into_iter().map(|(_, held)| held.slot));
                self.front.take_if(|held| held.asked.is_empty());
            }
        }
        self.check();
    }

    /// The connection that serves a caller.
    fn held(&mut self, caller: usize) -> Option<&mut SlotUser> {
        if self.is_per_caller { self.users.get_mut(&caller) } else { self.front.as_mut() }
    }

    /// What an upstream does to find a connection for a call.
    fn come(&mut self, caller: usize, sharing: SessionSharing) {
        self.clock += 1;
        let refused = self.make_room(caller);
        let mut opened = 0;
        loop {
            let slot = match self.pool.slot(&self.callers[caller]) {
                Ok(slot) => slot,
                Err(fault) => return assert!(refused && *fault.reason() == reason::SERVER_BUSY),
            };
            assert!(!refused, "there is no room");
            slot.used.store(self.clock * TICK, Ordering::Relaxed);
            if let Some(held) = self.held(caller).filter(|held| !held.is_dead) {
                assert!(Arc::ptr_eq(&held.slot, &slot) && slot.alive().is_some());
                held.used = slot.used.load(Ordering::Relaxed);
                return;
            }
            assert!(slot.alive().is_none() && self.pool.owns(&slot));
            opened += 1;
            assert_eq!(opened, 1, "one call opens one connection");
            let mut starts = now(slot.lock_starts()).expect("only one caller connects");
            let (mux, _) = RequestMux::new(Arc::default());
            let connection = UpstreamConnection::over(mux.clone());
            let placed = self.pool.place(&slot, connection, sharing, &self.callers[caller]);
            let kept = now(placed).expect("no other caller connects");
            slot.set(kept, &mut starts);
            drop(starts);
            self.settle(caller, sharing, mux);
        }
    }

    /// The slot that a new caller takes from the one that waited longest. Returns whether all of them are busy.
    fn make_room(&mut self, caller: usize) -> bool {
        if !self.is_per_caller || self.users.contains_key(&caller) || self.users.len() < MOST {
            return false;
        }
        let idle = self.users.iter().filter(|(_, held)| held.asked.is_empty());
        let Some((oldest, _)) = idle.min_by_key(|(_, held)| held.used) else { return true };
        let oldest = *oldest;
        self.left.extend(self.users.remove(&oldest).map(|held| held.slot));
        false
    }

    /// The connection is where it belongs.
    fn settle(&mut self, caller: usize, sharing: SessionSharing, mux: Arc<RequestMux>) {
        let occupant = |slot| SlotUser { slot, mux, asked: Vec::new(), is_dead: false, used: 0 };
        self.is_per_caller = sharing == SessionSharing::PerCaller;
        assert_eq!(self.pool.is_per_caller(), self.is_per_caller);
        let slot = self.pool.existing_slot(&self.callers[caller]).expect("its slot");
        match sharing {
            SessionSharing::PerCaller => {
                self.front = None;
                self.users.insert(caller, occupant(slot));
            }
            SessionSharing::Shared => {
                let left = std::mem::take(&mut self.users);
                self.left.extend(left.into_values().map(|held| held.slot));
                self.front = Some(occupant(slot));
            }
        }
    }

    fn check(&self) {
        assert!(self.pool.sessions() <= MOST);
        assert_eq!((self.pool.sessions(), self.pool.is_per_caller()), (self.users.len(), self.is_per_caller));
        for held in self.users.values().chain(&self.front) {
            assert_eq!(held.slot.alive().is_none(), held.is_dead, "a dead connection is handed out");
            assert_eq!(held.slot.is_busy(), !held.asked.is_empty());
            assert!(self.pool.owns(&held.slot));
        }
        for (caller, cx) in self.callers.iter().enumerate() {
            let slot = self.pool.existing_slot(cx);
            let own = self.users.get(&caller).map(|held| &held.slot);
            match self.is_per_caller {
                true => assert!(slot.as_ref().map(Arc::as_ptr) == own.map(Arc::as_ptr), "another's slot"),
                false => assert!(slot.is_some_and(|slot| slot.alive().is_none() || self.front.is_some())),
            }
        }
        assert!(self.left.iter().all(|slot| slot.released().is_cancelled() && !self.pool.owns(slot)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn callers_have_the_slots_that_the_model_says(operations in proptest::collection::vec(operation(), 1..120)) {
        let mut model = PoolModel::new();
        operations.iter().for_each(|operation| model.apply(*operation));
    }
}
