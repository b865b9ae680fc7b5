//! The clients that use one upstream session. If it is a single client, messages that belong to no call are
//! attributed to it.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use failwell_toolbox::Context;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::upstream::client::ClientRelay;

/// Not used yet; session numbers start at 1.
const UNUSED: u64 = 0;
/// Used by several clients, or by requests without a session.
const SEVERAL: u64 = u64::MAX;
/// The most sessions remembered as asked for their roots.
const MOST_ASKED: usize = 1_000;

pub(crate) const ROOTS: &str = "roots/list";

#[derive(Debug, Default)]
pub(crate) struct SessionUsers {
    only: AtomicU64,
    known: Mutex<UserState>,
}

#[derive(Debug, Default)]
struct UserState {
    /// Cancelled when the session of the only client ends.
    ended: Option<CancellationToken>,
    wants_roots: bool,
    /// The sessions whose roots it asked for.
    asked: HashSet<u64>,
    /// The only client, for `roots/list` outside a call.
    owner: Option<Context>,
}

impl UserState {
    /// The users after one more request. Concurrent requests of one client may race here.
    fn whose(&self, only: u64, number: u64) -> u64 {
        let is_gone = || self.ended.as_ref().is_some_and(CancellationToken::is_cancelled);
        match only {
            UNUSED => number,
            SEVERAL => SEVERAL,
            same if same == number => number,
            _ if is_gone() => number,
            _ => SEVERAL,
        }
    }
}

impl SessionUsers {
    fn is_only(&self, cx: &Context) -> bool {
        cx.session_number() == Some(self.only.load(Ordering::Relaxed))
    }

    /// Records a request on the connection. Once shared, it stays shared: its state may belong to any of its clients.
    pub(crate) fn record_use(self: &Arc<Self>, cx: &Context) {
        let number = cx.session_number().unwrap_or(SEVERAL);
        let only = self.only.load(Ordering::Relaxed);
        if only != number && only != SEVERAL {
            self.admit(number, cx);
        }
    }

    #[cold]
    fn admit(self: &Arc<Self>, number: u64, cx: &Context) {
        let mut known = self.known.lock();
        let before = self.only.load(Ordering::Relaxed);
        let only = known.whose(before, number);
        if only == before {
            return;
        }
        known.ended = cx.end_of_session().cloned();
        // Servers may ask for roots right after the handshake, before the first call.
        known.owner = (only != SEVERAL).then(|| cx.detached()).flatten();
        if known.owner.is_some() {
            self.clone().forget_at_session_end(cx);
        }
        self.only.store(only, Ordering::Relaxed);
    }

    /// The client to ask outside a call.
    pub(crate) fn owner(&self, method: &str) -> Option<ClientRelay> {
        let known = self.known.lock();
        let owner = known.owner.as_ref().filter(|cx| method == ROOTS && self.is_only(cx))?;
        let is_there = owner.end_of_session().is_some_and(|ended| !ended.is_cancelled());
        is_there.then(|| ClientRelay::direct(owner))
    }

    /// Records which client was asked for its roots.
    pub(crate) fn note_question(&self, method: &str, whom: Option<&ClientRelay>) {
        if method != ROOTS {
            return;
        }
        let mut known = self.known.lock();
        known.wants_roots = true;
        if let Some(number) = whom.and_then(|relay| relay.cx.session_number())
            && known.asked.len() < MOST_ASKED
        {
            known.asked.insert(number);
        }
    }

    /// Handles a change of a client's roots. Returns whether the upstream must be notified.
    pub(crate) fn roots_changed_by(self: &Arc<Self>, cx: &Context) -> bool {
        let Some(number) = cx.session_number() else { return false };
        let mut known = self.known.lock();
        let is_only = self.is_only(cx);
        let concerns = known.wants_roots && (is_only || known.asked.contains(&number));
        if concerns && is_only && known.owner.replace(cx.clone()).is_none() {
            self.clone().forget_at_session_end(cx);
        }
        concerns
    }

    /// Drops the client when its session ends.
    fn forget_at_session_end(self: Arc<Self>, cx: &Context) {
        let Some((ended, number)) = cx.end_of_session().cloned().zip(cx.session_number()) else { return };
        let users = Arc::downgrade(&self);
        tokio::spawn(async move {
            ended.cancelled().await;
            let Some(users) = users.upgrade() else { return };
            let mut known = users.known.lock();
            known.asked.remove(&number);
            if known.owner.as_ref().is_some_and(|owner| owner.session_number() == Some(number)) {
                known.owner = None;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(ended: &CancellationToken) -> UserState {
        UserState { ended: Some(ended.clone()), ..UserState::default() }
    }

    #[test]
    fn a_client_is_alone_until_another_comes_while_it_is_there() {
        let ended = CancellationToken::new();
        let known = known(&ended);
        assert_eq!(UserState::default().whose(UNUSED, 1), 1);
        assert_eq!(known.whose(1, 2), SEVERAL);
        assert_eq!(known.whose(SEVERAL, 1), SEVERAL);
        ended.cancel();
        assert_eq!(known.whose(1, 2), 2);
        assert_eq!(known.whose(SEVERAL, 2), SEVERAL);
    }

    /// Both requests saw the previous user; the second one finds the first one's entry.
    #[test]
    fn a_client_that_comes_with_two_requests_at_once_is_one() {
        assert_eq!(known(&CancellationToken::new()).whose(2, 2), 2);
        assert_eq!(known(&CancellationToken::new()).whose(SEVERAL, SEVERAL), SEVERAL);
    }
}
