//! Changes nobody can say of whether they were made. Before the same change is made again, the service is asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::book::Book;
use crate::model::TaskKey;

/// How many are remembered, and for how long.
const MOST: usize = 256;
const GOOD_FOR: Duration = Duration::from_secs(1_800);

/// What was found to be there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Confirmed {
    pub(crate) task: Option<TaskKey>,
    pub(crate) note: Option<String>,
    pub(crate) list: Option<String>,
}

type Holds = dyn Fn(&Book) -> Option<Confirmed> + Send + Sync;

/// How to find out whether a change was made.
#[derive(Clone)]
pub(crate) struct Proof {
    pub(crate) lists: bool,
    holds: Arc<Holds>,
}

impl Proof {
    /// By looking at the tasks.
    pub(crate) fn tasks(holds: impl Fn(&Book) -> Option<Confirmed> + Send + Sync + 'static) -> Proof {
        Proof { lists: false, holds: Arc::new(holds) }
    }

    /// By looking at the lists.
    pub(crate) fn lists(holds: impl Fn(&Book) -> Option<Confirmed> + Send + Sync + 'static) -> Proof {
        Proof { lists: true, holds: Arc::new(holds) }
    }

    pub(crate) fn look(&self, book: &Book) -> Option<Confirmed> {
        (self.holds)(book)
    }
}

struct Doubted {
    print: String,
    proof: Option<Proof>,
    /// What the first try carried to be known by.
    mark: String,
    since: Instant,
}

/// The doubted changes.
#[derive(Default)]
pub(crate) struct Doubts(Mutex<VecDeque<Doubted>>);

impl Doubts {
    pub(crate) fn add(&self, print: String, proof: Option<Proof>, mark: String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|doubted| doubted.print != print && doubted.since.elapsed() < GOOD_FOR);
        if all.len() >= MOST {
            all.pop_front();
        }
        all.push_back(Doubted { print, proof, mark, since: Instant::now() });
    }

    /// An earlier change like this one, and its mark.
    pub(crate) fn of(&self, print: &str) -> Option<(Option<Proof>, String)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found =
            all.iter().find(|doubted| doubted.print == print && doubted.since.elapsed() < GOOD_FOR)?;
        Some((found.proof.clone(), found.mark.clone()))
    }

    pub(crate) fn settle(&self, print: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|doubted| doubted.print != print);
    }
}
