//! Changes with an unknown outcome. The service is asked before such a change is made again (ADR 0020).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::account::cache::TaskCache;
use crate::model::TaskKey;

/// Maximum number and age of stored changes.
const MOST: usize = 256;
const GOOD_FOR: Duration = Duration::from_secs(1_800);

/// The evidence of a change that was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ConfirmedChange {
    pub(crate) task: Option<TaskKey>,
    pub(crate) note: Option<String>,
    pub(crate) list: Option<String>,
}

type ConfirmFn = dyn Fn(&TaskCache) -> Option<ConfirmedChange> + Send + Sync;

/// The check whether a change was made.
#[derive(Clone)]
pub(crate) struct Proof {
    pub(crate) lists: bool,
    holds: Arc<ConfirmFn>,
}

impl Proof {
    /// A check of the tasks.
    pub(crate) fn tasks(
        holds: impl Fn(&TaskCache) -> Option<ConfirmedChange> + Send + Sync + 'static,
    ) -> Proof {
        Proof { lists: false, holds: Arc::new(holds) }
    }

    /// A check of the lists.
    pub(crate) fn lists(
        holds: impl Fn(&TaskCache) -> Option<ConfirmedChange> + Send + Sync + 'static,
    ) -> Proof {
        Proof { lists: true, holds: Arc::new(holds) }
    }

    pub(crate) fn look(&self, cache: &TaskCache) -> Option<ConfirmedChange> {
        (self.holds)(cache)
    }
}

/// A change that may be made already.
#[derive(Clone)]
pub(crate) struct UnconfirmedChange {
    pub(crate) print: String,
    /// The caller that never heard of it; `None` if the outcome itself is unknown.
    pub(crate) caller: Option<String>,
    pub(crate) proof: Option<Proof>,
    /// The mark of the first attempt.
    pub(crate) mark: String,
    since: Instant,
}

impl UnconfirmedChange {
    pub(crate) fn new(print: String, proof: Option<Proof>, mark: String) -> UnconfirmedChange {
        UnconfirmedChange { print, caller: None, proof, mark, since: Instant::now() }
    }

    /// The same change, as one that this caller never heard of.
    pub(crate) fn unconfirmed_for(self, caller: &str) -> UnconfirmedChange {
        UnconfirmedChange { caller: Some(caller.to_owned()), ..self }
    }

    fn is(&self, print: &str, caller: Option<&str>) -> bool {
        self.print == print && (self.caller.is_none() || self.caller.as_deref() == caller)
    }
}

#[derive(Default)]
pub(crate) struct UnconfirmedChanges(Mutex<VecDeque<UnconfirmedChange>>);

impl UnconfirmedChanges {
    pub(crate) fn add(&self, change: UnconfirmedChange) {
        let mut all = self.0.lock();
        all.retain(|known| {
            !known.is(&change.print, change.caller.as_deref()) && known.since.elapsed() < GOOD_FOR
        });
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(change);
    }

    /// An earlier equal change of this caller, or of anybody if its outcome is unknown.
    pub(crate) fn find(&self, print: &str, caller: Option<&str>) -> Option<UnconfirmedChange> {
        let all = self.0.lock();
        all.iter().find(|known| known.is(print, caller) && known.since.elapsed() < GOOD_FOR).cloned()
    }

    pub(crate) fn remove(&self, print: &str, caller: Option<&str>) {
        self.0.lock().retain(|known| !known.is(print, caller));
    }
}
