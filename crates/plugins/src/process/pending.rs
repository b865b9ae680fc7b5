//! The unanswered requests of a child.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use failwell_fault::Fault;
use failwell_policy::guard::custom::CustomVerdict;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

/// Maximum number of requests in flight.
pub(super) const MOST: usize = 64;
/// Maximum number of consecutive lines that are not verdicts.
const MOST_STRAYS: usize = 1_000;
/// A child without any verdict for this long, after at least `MOST_IGNORED` timeouts, counts as hung.
const SILENCE: Duration = Duration::from_secs(5);
const MOST_IGNORED: usize = 3;

/// The requests in flight.
#[derive(Debug, Default)]
pub(super) struct PendingRequests {
    state: Mutex<PendingState>,
    /// Notified when another request may fit.
    pub(super) freed: Notify,
}

#[derive(Debug, Default)]
struct PendingState {
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Result<CustomVerdict, Fault>>>,
    strays: usize,
    ignored: usize,
    silent_since: Option<Instant>,
}

/// The health of a child, judged by its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputHealth {
    /// It sends verdicts.
    Good,
    /// It writes lines, but no verdicts.
    Flooding,
}

impl PendingRequests {
    /// Assigns an id to a request, unless too many are in flight.
    pub(super) fn begin(
        &self,
        verdict: oneshot::Sender<Result<CustomVerdict, Fault>>,
    ) -> Result<u64, oneshot::Sender<Result<CustomVerdict, Fault>>> {
        self.tidy();
        let mut state = self.state.lock();
        if state.waiting.len() >= MOST {
            return Err(verdict);
        }
        state.next += 1;
        let id = state.next;
        state.waiting.insert(id, verdict);
        Ok(id)
    }

    /// Removes requests whose caller has stopped waiting and counts them as ignored.
    pub(super) fn tidy(&self) {
        let mut state = self.state.lock();
        let before = state.waiting.len();
        state.waiting.retain(|_, verdict| !verdict.is_closed());
        let ignored = before - state.waiting.len();
        if ignored > 0 {
            state.ignored += ignored;
            state.silent_since.get_or_insert_with(Instant::now);
        }
    }

    /// Whether the child has stopped sending verdicts.
    pub(super) fn is_ignored(&self) -> bool {
        let state = self.state.lock();
        let is_long = state.silent_since.is_some_and(|since| since.elapsed() >= SILENCE);
        is_long && state.ignored >= MOST_IGNORED
    }

    /// Handles a line of the child. A verdict with an unknown id is late or invented, and is dropped.
    pub(super) fn hear(&self, line: &[u8]) -> OutputHealth {
        let verdict: Option<Value> = serde_json::from_slice(line).ok();
        let id = verdict.as_ref().and_then(|verdict| verdict.get("id")).and_then(Value::as_u64);
        let mut state = self.state.lock();
        let waiting = id.and_then(|id| state.waiting.remove(&id));
        match (waiting, verdict) {
            (Some(waiting), Some(verdict)) => {
                (state.strays, state.ignored, state.silent_since) = (0, 0, None);
                drop(state);
                let _ = waiting.send(CustomVerdict::parse(&verdict));
                self.freed.notify_one();
            }
            _ => {
                state.strays += 1;
                if state.strays > MOST_STRAYS {
                    return OutputHealth::Flooding;
                }
            }
        }
        OutputHealth::Good
    }

    /// Fails every request, because the child has ended.
    pub(super) fn fail(&self, fault: impl Fn() -> Fault) {
        let waiting = {
            let mut state = self.state.lock();
            (state.strays, state.ignored, state.silent_since) = (0, 0, None);
            std::mem::take(&mut state.waiting)
        };
        for (_, verdict) in waiting {
            let _ = verdict.send(Err(fault()));
        }
        self.freed.notify_one();
    }
}
