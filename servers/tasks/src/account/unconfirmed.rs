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

struct UnconfirmedChange {
    print: String,
    proof: Option<Proof>,
    /// The mark of the first attempt.
    mark: String,
    since: Instant,
}

#[derive(Default)]
pub(crate) struct UnconfirmedChanges(Mutex<VecDeque<UnconfirmedChange>>);

impl UnconfirmedChanges {
    pub(crate) fn add(&self, print: String, proof: Option<Proof>, mark: String) {
        let mut all = self.0.lock();
        all.retain(|doubted| doubted.print != print && doubted.since.elapsed() < GOOD_FOR);
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(UnconfirmedChange { print, proof, mark, since: Instant::now() });
    }

    /// An earlier equal change, and its mark.
    pub(crate) fn find(&self, print: &str) -> Option<(Option<Proof>, String)> {
        let all = self.0.lock();
        let found =
            all.iter().find(|doubted| doubted.print == print && doubted.since.elapsed() < GOOD_FOR)?;
        Some((found.proof.clone(), found.mark.clone()))
    }

    pub(crate) fn remove(&self, print: &str) {
        let mut all = self.0.lock();
        all.retain(|doubted| doubted.print != print);
    }
}
