//! Random callers: the pool stays within its bound, evicts no busy slot, and returns no closed connection.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use failwell_rpc::Caller;
use failwell_toolbox::Party;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof, proptest};

use super::{ConnectionPool, SessionSharing};
use crate::upstream::connection::UpstreamConnection;
use crate::upstream::connection::channel::PendingResponse;
use crate::upstream::connection::{close_reason::CloseReason, request_mux::RequestMux};
use crate::upstream::connection_pool::ConnectionSlot;

const MOST: usize = 3;

/// The number is a session.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Come(u64),
    Ask(u64),
    Answer(u64),
    Die(u64),
    Reconnect(u64),
    Leave(u64),
    Sweep,
}

fn operation() -> impl Strategy<Value = Operation> {
    let session = || 0u64..6;
    prop_oneof![
        6 => session().prop_map(Operation::Come),
        4 => session().prop_map(Operation::Ask),
        3 => session().prop_map(Operation::Answer),
        2 => session().prop_map(Operation::Die),
        2 => session().prop_map(Operation::Reconnect),
        1 => session().prop_map(Operation::Leave),
        1 => Just(Operation::Sweep),
    ]
}

struct Occupant {
    seat: Arc<ConnectionSlot>,
    line: Arc<RequestMux>,
    asked: Vec<PendingResponse>,
    is_dead: bool,
}

struct Model {
    pool: Arc<ConnectionPool>,
    seated: BTreeMap<u64, Occupant>,
}

fn party(session: u64) -> Party {
    Party { caller: Caller::keyholder("ann"), session: Some(session) }
}

fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

impl Model {
    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Come(session) => self.come(session),
            Operation::Ask(session) => {
                if let Some(held) = self.seated.get_mut(&session) {
                    let sent = now(held.line.send("ping", |_, out| out.push_str("{}"), None));
                    assert_eq!(sent.as_ref().is_some_and(Result::is_err), held.is_dead);
                    held.asked.extend(sent.and_then(Result::ok));
                }
            }
            Operation::Answer(session) => {
                if let Some(held) = self.seated.get_mut(&session) {
                    held.asked.clear();
                }
            }
            Operation::Die(session) => {
                if let Some(held) = self.seated.get_mut(&session) {
                    held.line.close(&CloseReason::Lost);
                    held.asked.clear();
                    held.is_dead = true;
                }
            }
            Operation::Reconnect(session) => {
                if let Some(held) = self.seated.get_mut(&session).filter(|held| held.is_dead) {
                    let (line, _) = RequestMux::new(Arc::default());
                    assert!(now(held.seat.store(UpstreamConnection::over(line.clone()))).is_some());
                    (held.line, held.is_dead) = (line, false);
                }
            }
            Operation::Leave(session) => {
                self.pool.leave(&party(session));
                self.seated.remove(&session);
            }
            Operation::Sweep => {
                self.pool.sweep(Some(Duration::ZERO));
                self.seated.retain(|_, held| !held.asked.is_empty());
            }
        }
        self.check();
    }

    fn come(&mut self, session: u64) {
        if self.seated.contains_key(&session) {
            return;
        }
        let mut state = self.pool.state.lock();
        let all_busy = self.seated.values().filter(|held| !held.asked.is_empty()).count() >= MOST;
        let made = state.evict_if_full(MOST);
        assert_eq!(made.is_err(), all_busy, "refused only when everybody is busy");
        if made.is_ok() {
            let (line, _) = RequestMux::new(Arc::default());
            let seat = ConnectionSlot::with(UpstreamConnection::over(line.clone()));
            state.slots.insert(party(session), seat.clone());
            self.seated.retain(|session, held| {
                let stays = state.slots.contains_key(&party(*session));
                assert!(stays || held.asked.is_empty(), "one that was busy is gone");
                assert_eq!(held.seat.released().is_cancelled(), !stays);
                stays
            });
            self.seated.insert(session, Occupant { seat, line, asked: Vec::new(), is_dead: false });
        }
    }

    fn check(&self) {
        assert!(self.pool.sessions() <= MOST);
        assert_eq!(self.pool.sessions(), self.seated.len());
        for held in self.seated.values() {
            assert_eq!(held.seat.alive().is_none(), held.is_dead, "a dead connection is handed out");
            assert_eq!(held.seat.is_busy(), !held.asked.is_empty());
            assert!(self.pool.owns(&held.seat));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_pool_keeps_its_bound_and_no_dead_connection(operations in proptest::collection::vec(operation(), 1..120)) {
        let pool = ConnectionPool::new(MOST, Some(SessionSharing::PerCaller));
        let mut model = Model { pool, seated: BTreeMap::new() };
        operations.iter().for_each(|operation| model.apply(*operation));
    }
}
