//! The questions a child has and has not answered.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_policy::guard::custom::Opinion;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

/// Questions a child has at once at the most.
pub(super) const MOST: usize = 64;
/// Lines that are no verdict, one after another, that a child may write.
const MOST_STRAYS: usize = 1_000;
/// For how long a child may leave every question unanswered, once it has left some.
const SILENCE: Duration = Duration::from_secs(5);
const MOST_IGNORED: usize = 3;

/// The questions a child has.
#[derive(Debug, Default)]
pub(super) struct Open {
    state: Mutex<State>,
    /// Told whenever there may be room for another.
    pub(super) freed: Notify,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Result<Opinion, Fault>>>,
    strays: usize,
    ignored: usize,
    silent_since: Option<Instant>,
}

/// What a child is, as far as its output tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// It answers.
    Good,
    /// It writes, but no verdicts.
    Babbles,
}

impl Open {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a question, unless the child has enough.
    pub(super) fn begin(
        &self,
        verdict: oneshot::Sender<Result<Opinion, Fault>>,
    ) -> Result<u64, oneshot::Sender<Result<Opinion, Fault>>> {
        self.tidy();
        let mut state = self.lock();
        if state.waiting.len() >= MOST {
            return Err(verdict);
        }
        state.next += 1;
        let id = state.next;
        state.waiting.insert(id, verdict);
        Ok(id)
    }

    /// Forgets questions whose verdict nobody waits for any more. Those the child left unanswered.
    pub(super) fn tidy(&self) {
        let mut state = self.lock();
        let before = state.waiting.len();
        state.waiting.retain(|_, verdict| !verdict.is_closed());
        let ignored = before - state.waiting.len();
        if ignored > 0 {
            state.ignored += ignored;
            state.silent_since.get_or_insert_with(Instant::now);
        }
    }

    /// Whether the child has stopped to answer.
    pub(super) fn is_ignored(&self) -> bool {
        let state = self.lock();
        let is_long = state.silent_since.is_some_and(|since| since.elapsed() >= SILENCE);
        is_long && state.ignored >= MOST_IGNORED
    }

    /// Takes a line the child wrote. A verdict under a number nobody waits for is nobody's: too late, or made up.
    pub(super) fn hear(&self, line: &[u8]) -> Sense {
        let verdict: Option<Value> = serde_json::from_slice(line).ok();
        let id = verdict.as_ref().and_then(|verdict| verdict.get("id")).and_then(Value::as_u64);
        let mut state = self.lock();
        let waiting = id.and_then(|id| state.waiting.remove(&id));
        match (waiting, verdict) {
            (Some(waiting), Some(verdict)) => {
                (state.strays, state.ignored, state.silent_since) = (0, 0, None);
                drop(state);
                let _ = waiting.send(Opinion::read(&verdict));
                self.freed.notify_one();
            }
            _ => {
                state.strays += 1;
                if state.strays > MOST_STRAYS {
                    return Sense::Babbles;
                }
            }
        }
        Sense::Good
    }

    /// The child is gone: every question fails.
    pub(super) fn fail(&self, fault: impl Fn() -> Fault) {
        let waiting = {
            let mut state = self.lock();
            (state.strays, state.ignored, state.silent_since) = (0, 0, None);
            std::mem::take(&mut state.waiting)
        };
        for (_, verdict) in waiting {
            let _ = verdict.send(Err(fault()));
        }
        self.freed.notify_one();
    }
}
