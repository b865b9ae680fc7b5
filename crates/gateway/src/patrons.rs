//! Whose an upstream's session is: one client's alone, or several clients'. What belongs to no call in particular can
//! then be somebody's all the same.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use failwell_server::Context;
use tokio_util::sync::CancellationToken;

use crate::relay::Relay;

/// Nobody used it yet; sessions are numbered from 1.
const NOBODY: u64 = 0;
/// Several did, or somebody whose requests belong to no session.
const SEVERAL: u64 = u64::MAX;
/// The most sessions that are remembered as asked for their roots.
const MOST_ASKED: usize = 1_000;

pub(crate) const ROOTS: &str = "roots/list";

/// Those who use one connection.
#[derive(Debug, Default)]
pub(crate) struct Patrons {
    only: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// Set when the session of the only one is over.
    ended: Option<CancellationToken>,
    /// Whether the upstream ever asked for roots.
    wants_roots: bool,
    /// The sessions it was told the roots of.
    asked: HashSet<u64>,
    /// The only one, to be asked for its roots outside of any call.
    owner: Option<Context>,
}

impl Known {
    /// Whose the connection is when this one uses it too. It may have come with several requests at once, of which
    /// another was first.
    fn whose(&self, only: u64, number: u64) -> u64 {
        let is_gone = || self.ended.as_ref().is_some_and(CancellationToken::is_cancelled);
        match only {
            NOBODY => number,
            SEVERAL => SEVERAL,
            same if same == number => number,
            _ if is_gone() => number,
            _ => SEVERAL,
        }
    }
}

impl Patrons {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_only(&self, cx: &Context) -> bool {
        cx.session_number() == Some(self.only.load(Ordering::Relaxed))
    }

    /// Somebody uses the connection. Several stay several for as long as it lasts: nobody can say whose state it holds.
    pub(crate) fn visit(self: &Arc<Self>, cx: &Context) {
        let number = cx.session_number().unwrap_or(SEVERAL);
        let only = self.only.load(Ordering::Relaxed);
        if only != number && only != SEVERAL {
            self.admit(number, cx);
        }
    }

    #[cold]
    fn admit(self: &Arc<Self>, number: u64, cx: &Context) {
        let mut known = self.lock();
        let before = self.only.load(Ordering::Relaxed);
        let only = known.whose(before, number);
        if only == before {
            return;
        }
        known.ended = cx.end_of_session().cloned();
        // Servers ask for roots as soon as they were introduced, before the first call reaches them.
        known.owner = (only != SEVERAL).then(|| cx.beside()).flatten();
        if known.owner.is_some() {
            self.clone().forget_later(cx);
        }
        self.only.store(only, Ordering::Relaxed);
    }

    /// Who is asked what the upstream asks outside of any call.
    pub(crate) fn owner(&self, method: &str) -> Option<Relay> {
        let known = self.lock();
        let owner = known.owner.as_ref().filter(|cx| method == ROOTS && self.is_only(cx))?;
        let is_there = owner.end_of_session().is_some_and(|ended| !ended.is_cancelled());
        is_there.then(|| Relay::direct(owner))
    }

    /// The upstream asks for somebody's roots, or for nobody's in particular.
    pub(crate) fn asks(&self, method: &str, whom: Option<&Relay>) {
        if method != ROOTS {
            return;
        }
        let mut known = self.lock();
        known.wants_roots = true;
        if let Some(number) = whom.and_then(|relay| relay.cx.session_number())
            && known.asked.len() < MOST_ASKED
        {
            known.asked.insert(number);
        }
    }

    /// A client's roots are others now: whether the upstream is to know. What it asks then is asked of that client, if
    /// there is no other.
    pub(crate) fn change_roots(self: &Arc<Self>, cx: &Context) -> bool {
        let Some(number) = cx.session_number() else { return false };
        let mut known = self.lock();
        let is_only = self.is_only(cx);
        let concerns = known.wants_roots && (is_only || known.asked.contains(&number));
        if concerns && is_only && known.owner.replace(cx.clone()).is_none() {
            self.clone().forget_later(cx);
        }
        concerns
    }

    /// Lets go of a client when its session is over.
    fn forget_later(self: Arc<Self>, cx: &Context) {
        let Some((ended, number)) = cx.end_of_session().cloned().zip(cx.session_number()) else { return };
        let patrons = Arc::downgrade(&self);
        tokio::spawn(async move {
            ended.cancelled().await;
            let Some(patrons) = patrons.upgrade() else { return };
            let mut known = patrons.lock();
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

    fn known(ended: &CancellationToken) -> Known {
        Known { ended: Some(ended.clone()), ..Known::default() }
    }

    #[test]
    fn a_client_is_alone_until_another_comes_while_it_is_there() {
        let ended = CancellationToken::new();
        let known = known(&ended);
        assert_eq!(Known::default().whose(NOBODY, 1), 1);
        assert_eq!(known.whose(1, 2), SEVERAL);
        assert_eq!(known.whose(SEVERAL, 1), SEVERAL);
        ended.cancel();
        assert_eq!(known.whose(1, 2), 2);
        assert_eq!(known.whose(SEVERAL, 2), SEVERAL);
    }

    /// Both saw the one before them, and the second to be let in finds the first.
    #[test]
    fn a_client_that_comes_with_two_requests_at_once_is_one() {
        assert_eq!(known(&CancellationToken::new()).whose(2, 2), 2);
        assert_eq!(known(&CancellationToken::new()).whose(SEVERAL, SEVERAL), SEVERAL);
    }
}
