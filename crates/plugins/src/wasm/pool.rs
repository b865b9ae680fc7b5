//! Instances of one module: a fresh one for every request, a bounded number at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::guard::custom::{CustomGuard, CustomVerdict, GuardRequest, VerdictFuture};
use tokio::sync::Semaphore;
use wasmtime::{Engine, InstancePre};

use super::instance::{GuardCall, InstanceLimits};
use super::{LoadError, ModuleLimits, WasmModule, load};
use crate::failure::{busy, no_verdict};

/// Maximum number of requests waiting for an instance.
const MOST_WAITING: usize = 256;

/// A module with its permits for instances.
pub(super) struct InstancePool {
    ready: CompiledModule,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// The parts that every instance is made from.
#[derive(Clone)]
pub(crate) struct CompiledModule {
    pub(crate) engine: Engine,
    pub(crate) linked: InstancePre<InstanceLimits>,
    pub(crate) limits: ModuleLimits,
}

impl std::fmt::Debug for InstancePool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstancePool").field("limits", &self.ready.limits).finish_non_exhaustive()
    }
}

impl InstancePool {
    fn load(bytes: &[u8], limits: ModuleLimits) -> Result<InstancePool, LoadError> {
        let ready = load::compile(bytes, limits)?;
        let places = Arc::new(Semaphore::new(limits.instances));
        Ok(InstancePool { ready, places, waiting: AtomicUsize::new(0) })
    }

    async fn ask(&self, question: GuardRequest<'_>) -> Result<CustomVerdict, Fault> {
        let place = {
            let _waiting = QueueSlot::begin(&self.waiting)?;
            let place =
                tokio::time::timeout_at(question.deadline.into(), self.places.clone().acquire_owned());
            place.await.map_err(|_| busy())?.or_fault(&reason::SERVER_BUG)?
        };
        let (line, deadline, ready) = (question.to_line(0), question.deadline, self.ready.clone());
        // Dropped with this future: it then interrupts an instance beyond its deadline.
        let _alarm = EpochTick(&self.ready.engine);
        let running = tokio::task::spawn_blocking(move || {
            let _place = place;
            GuardCall { ready: &ready, deadline }.verdict(&line)
        });
        let verdict = running.await.map_err(|_| no_verdict("it crashed"))??;
        let verdict = serde_json::from_slice(&verdict)
            .map_err(|error| no_verdict("it gave no proper verdict").because(error))?;
        CustomVerdict::parse(&verdict)
    }
}

impl WasmModule {
    /// Compiles a module, in its binary or its text form, and starts one instance as a check.
    pub fn load(bytes: &[u8], limits: ModuleLimits) -> Result<WasmModule, LoadError> {
        InstancePool::load(bytes, limits).map(WasmModule)
    }
}

impl CustomGuard for WasmModule {
    fn judge<'a>(&'a self, question: GuardRequest<'a>) -> VerdictFuture<'a> {
        Box::pin(self.0.ask(question))
    }
}

/// Makes every running instance check its deadline.
struct EpochTick<'a>(&'a Engine);

impl Drop for EpochTick<'_> {
    fn drop(&mut self) {
        self.0.increment_epoch();
    }
}

/// A place in the queue for an instance.
struct QueueSlot<'a>(&'a AtomicUsize);

impl QueueSlot<'_> {
    fn begin(count: &AtomicUsize) -> Result<QueueSlot<'_>, Fault> {
        let waiting = QueueSlot(count);
        match count.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            true => Err(busy()),
            false => Ok(waiting),
        }
    }
}

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) fn is_over(deadline: Instant) -> bool {
    Instant::now() >= deadline
}
