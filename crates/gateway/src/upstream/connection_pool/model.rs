//! Random callers: the pool stays within its bound, evicts no busy slot, and returns no closed connection.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use failwell_rpc::Caller;
use failwell_toolbox::CallerSession;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

use super::{ConnectionPool, SessionSharing};
use crate::upstream::connection::UpstreamConnection;
use crate::upstream::connection::channel::PendingResponse;
use crate::upstream::connection::{close_reason::CloseReason, request_mux::RequestMux};
use crate::upstream::connection_pool::ConnectionSlot;

const MOST: usize = 3;

/// The number is a session.
#[derive(Debug, Clone, Copy)]
enum PoolOperation {
    Come(u64),
    Ask(u64),
    Answer(u64),
    Die(u64),
    Reconnect(u64),
    Leave(u64),
    Sweep,
}

fn operation() -> impl Strategy<Value = PoolOperation> {
    let session = || 0u64..6;
    prop_oneof![
        6 => session().prop_map(PoolOperation::Come),
        4 => session().prop_map(PoolOperation::Ask),
        3 => session().prop_map(PoolOperation::Answer),
        2 => session().prop_map(PoolOperation::Die),
        2 => session().prop_map(PoolOperation::Reconnect),
        1 => session().prop_map(PoolOperation::Leave),
        1 => Just(PoolOperation::Sweep),
    ]
}

struct SlotUser {
    slot: Arc<ConnectionSlot>,
    mux: Arc<RequestMux>,
    asked: Vec<PendingResponse>,
    is_dead: bool,
}

struct PoolModel {
    pool: Arc<ConnectionPool>,
    users: BTreeMap<u64, SlotUser>,
}

fn caller_session(session: u64) -> CallerSession {
    CallerSession { caller: Caller::keyholder("ann"), session: Some(session) }
}

fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

impl PoolModel {
    fn apply(&mut self, operation: PoolOperation) {
        match operation {
            PoolOperation::Come(session) => self.come(session),
            PoolOperation::Ask(session) => {
                if let Some(held) = self.users.get_mut(&session) {
                    let sent = now(held.mux.send("ping", |_, out| out.push_str("{}"), None));
                    assert_eq!(sent.as_ref().is_some_and(Result::is_err), held.is_dead);
                    held.asked.extend(sent.and_then(Result::ok));
                }
            }
            PoolOperation::Answer(session) => {
                if let Some(held) = self.users.get_mut(&session) {
                    held.asked.clear();
                }
            }
            PoolOperation::Die(session) => {
                if let Some(held) = self.users.get_mut(&session) {
                    held.mux.close(&CloseReason::Lost);
                    held.asked.clear();
                    held.is_dead = true;
                }
            }
            PoolOperation::Reconnect(session) => {
                if let Some(held) = self.users.get_mut(&session).filter(|held| held.is_dead) {
                    let (mux, _) = RequestMux::new(Arc::default());
                    assert!(now(held.slot.store(UpstreamConnection::over(mux.clone()))).is_some());
                    (held.mux, held.is_dead) = (mux, false);
                }
            }
            PoolOperation::Leave(session) => {
                self.pool.leave(&caller_session(session));
                self.users.remove(&session);
            }
            PoolOperation::Sweep => {
                self.pool.sweep(Some(Duration::ZERO));
                self.users.retain(|_, held| !held.asked.is_empty());
            }
        }
        self.check();
    }

    fn come(&mut self, session: u64) {
        if self.users.contains_key(&session) {
            return;
        }
        let mut state = self.pool.lock();
        let all_busy = self.users.values().filter(|held| !held.asked.is_empty()).count() >= MOST;
        let made = state.evict_if_full(MOST);
        assert_eq!(made.is_err(), all_busy, "refused only when everybody is busy");
        if made.is_ok() {
            let (mux, _) = RequestMux::new(Arc::default());
            let slot = ConnectionSlot::with(UpstreamConnection::over(mux.clone()));
            state.slots.insert(caller_session(session), slot.clone());
            self.users.retain(|session, held| {
                let stays = state.slots.contains_key(&caller_session(*session));
                assert!(stays || held.asked.is_empty(), "one that was busy is gone");
                assert_eq!(held.slot.released().is_cancelled(), !stays);
                stays
            });
            self.users.insert(session, SlotUser { slot, mux, asked: Vec::new(), is_dead: false });
        }
    }

    fn check(&self) {
        assert!(self.pool.sessions() <= MOST);
        assert_eq!(self.pool.sessions(), self.users.len());
        for held in self.users.values() {
            assert_eq!(held.slot.alive().is_none(), held.is_dead, "a dead connection is handed out");
            assert_eq!(held.slot.is_busy(), !held.asked.is_empty());
            assert!(self.pool.owns(&held.slot));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_pool_keeps_its_bound_and_no_dead_connection(operations in proptest::collection::vec(operation(), 1..120)) {
        let pool = ConnectionPool::new(MOST, Some(SessionSharing::PerCaller));
        let mut model = PoolModel { pool, users: BTreeMap::new() };
        operations.iter().for_each(|operation| model.apply(*operation));
    }
}
