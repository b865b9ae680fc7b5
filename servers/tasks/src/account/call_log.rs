//! The changes of one call, and whether its caller still listens.
//!
//! A change runs to its end even if its caller cancels, disconnects or runs into a deadline. That caller will probably
//! repeat the call. Its changes are therefore remembered as unconfirmed, and looked up before they are made again.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::account::Account;
use crate::account::unconfirmed::UnconfirmedChange;

tokio::task_local! {
    /// The call that the current task serves.
    static CALL: Arc<CallLog>;
}

pub(crate) struct CallLog {
    account: Arc<Account>,
    caller: String,
    state: Mutex<CallState>,
}

#[derive(Default)]
struct CallState {
    changes: Vec<UnconfirmedChange>,
    /// The caller is gone and never heard of the outcome.
    is_abandoned: bool,
}

/// The caller's side of a call. Dropping it before the outcome is heard abandons the call.
pub(crate) struct Listener(Option<Arc<CallLog>>);

impl CallLog {
    pub(crate) fn new(account: Arc<Account>, caller: String) -> Arc<CallLog> {
        Arc::new(CallLog { account, caller, state: Mutex::default() })
    }

    /// The call that the current task serves, if any.
    pub(crate) fn current() -> Option<Arc<CallLog>> {
        CALL.try_with(Arc::clone).ok()
    }

    /// Serves the call with this work.
    pub(crate) async fn serve<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        CALL.scope(self, work).await
    }

    pub(crate) fn listener(self: &Arc<Self>) -> Listener {
        Listener(Some(self.clone()))
    }

    pub(crate) fn caller(&self) -> &str {
        &self.caller
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.state.lock().is_abandoned
    }

    /// Notes a change before it is sent, and again when its outcome is known.
    pub(crate) fn note(&self, change: UnconfirmedChange) {
        let change = change.unconfirmed_for(&self.caller);
        let mut state = self.state.lock();
        if state.is_abandoned {
            self.account.unconfirmed.add(change);
        } else {
            state.changes.push(change);
        }
    }

    /// Forgets a change that was provably not made.
    pub(crate) fn withdraw(&self, print: &str) {
        let mut state = self.state.lock();
        state.changes.retain(|change| change.print != print);
        if state.is_abandoned {
            self.account.unconfirmed.remove(print, Some(&self.caller));
        }
    }
}

impl Listener {
    /// The caller gets the outcome.
    pub(crate) fn hear(mut self) {
        self.0 = None;
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Some(call) = self.0.take() else { return };
        let mut state = call.state.lock();
        state.is_abandoned = true;
        state.changes.drain(..).for_each(|change| call.account.unconfirmed.add(change));
    }
}
