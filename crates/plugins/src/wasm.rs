//! A guard as a WebAssembly module. See `docs/guide/policy.md` for what it exports.

mod instance;
mod load;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::guard::custom::{Judge, Judging, Opinion, Question};
use tokio::sync::Semaphore;
use wasmtime::{Engine, InstancePre};

use self::instance::{Guarded, Run};
use crate::failure::{busy, no_verdict};

pub use self::load::Flaw;

/// Questions that wait for an instance at the most.
const MOST_WAITING: usize = 256;

/// What a module may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleLimits {
    /// Bytes of its memory.
    pub memory: usize,
    /// Steps of one question.
    pub fuel: u64,
    /// Instances at the same time.
    pub instances: usize,
}

/// A module that is compiled and linked, ready to be asked.
pub struct Module {
    ready: Ready,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// What every instance is made from.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) engine: Engine,
    pub(crate) linked: InstancePre<Guarded>,
    pub(crate) limits: ModuleLimits,
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module").field("limits", &self.ready.limits).finish_non_exhaustive()
    }
}

impl Module {
    /// Compiles a module, in its binary or its text form, and tries whether it can be started.
    pub fn load(bytes: &[u8], limits: ModuleLimits) -> Result<Module, Flaw> {
        let ready = load::ready(bytes, limits)?;
        let places = Arc::new(Semaphore::new(limits.instances));
        Ok(Module { ready, places, waiting: AtomicUsize::new(0) })
    }

    async fn ask(&self, question: Question<'_>) -> Result<Opinion, Fault> {
        let place = {
            let _waiting = Waiting::begin(&self.waiting)?;
            let place =
                tokio::time::timeout_at(question.deadline.into(), self.places.clone().acquire_owned());
            place.await.map_err(|_| busy())?.or_fault(&reason::SERVER_BUG)?
        };
        let (line, deadline, ready) = (question.line(0), question.deadline, self.ready.clone());
        // Dropped when nobody waits any more: whoever runs past its deadline is stopped then.
        let _alarm = Alarm(&self.ready.engine);
        let running = tokio::task::spawn_blocking(move || {
            let _place = place;
            Run { ready: &ready, deadline }.verdict(&line)
        });
        let verdict = running.await.map_err(|_| no_verdict("it crashed"))??;
        let verdict = serde_json::from_slice(&verdict)
            .map_err(|error| no_verdict("it gave no proper verdict").because(error))?;
        Opinion::read(&verdict)
    }
}

impl Judge for Module {
    fn judge<'a>(&'a self, question: Question<'a>) -> Judging<'a> {
        Box::pin(self.ask(question))
    }
}

/// Has every instance that runs look at the clock.
struct Alarm<'a>(&'a Engine);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        self.0.increment_epoch();
    }
}

/// A question that waits for an instance.
struct Waiting<'a>(&'a AtomicUsize);

impl Waiting<'_> {
    fn begin(count: &AtomicUsize) -> Result<Waiting<'_>, Fault> {
        let waiting = Waiting(count);
        match count.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            true => Err(busy()),
            false => Ok(waiting),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether a moment is over.
pub(crate) fn is_over(deadline: Instant) -> bool {
    Instant::now() >= deadline
}
