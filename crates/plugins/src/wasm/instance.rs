//! One instance per request.

use std::time::Instant;

use failwell_fault::Fault;
use wasmtime::{Instance, Memory, Store, StoreLimits, StoreLimitsBuilder, Trap, TypedFunc, UpdateDeadline};

use super::pool::{CompiledModule, is_over};
use crate::LONGEST_VERDICT;
use crate::failure::no_verdict;

pub(crate) struct InstanceLimits {
    limits: StoreLimits,
}

/// One call of a module.
pub(crate) struct GuardCall<'a> {
    pub(crate) ready: &'a CompiledModule,
    pub(crate) deadline: Instant,
}

/// An instance with its exports.
struct GuardInstance {
    store: Store<InstanceLimits>,
    memory: Memory,
    alloc: TypedFunc<u32, u32>,
    guard: TypedFunc<(u32, u32), u64>,
}

impl GuardCall<'_> {
    /// Creates an instance as a check.
    pub(super) fn start(&self) -> wasmtime::Result<()> {
        self.instance().map(|_| ())
    }

    /// The bytes that the module returns for a request.
    pub(super) fn verdict(&self, question: &str) -> Result<Vec<u8>, Fault> {
        let mut asked = self.instance().map_err(failed)?;
        let length =
            u32::try_from(question.len()).map_err(|_| no_verdict("the message is too large for it"))?;
        let at = asked.alloc.call(&mut asked.store, length).map_err(failed)?;
        let written = asked.memory.write(&mut asked.store, index(at), question.as_bytes());
        if at == 0 || written.is_err() {
            return Err(no_verdict("the message is too large for it"));
        }
        let packed = asked.guard.call(&mut asked.store, (at, length)).map_err(failed)?;
        let (start, length) = (index((packed >> 32) as u32), index(packed as u32));
        if length > LONGEST_VERDICT {
            return Err(
                no_verdict("it gave no proper verdict").note("verdict", format!("{length} bytes long"))
            );
        }
        let verdict = asked.memory.data(&asked.store).get(start..start.saturating_add(length));
        let outside = || no_verdict("it gave no proper verdict").note("verdict", "outside of its memory");
        verdict.map(<[u8]>::to_vec).ok_or_else(outside)
    }

    fn instance(&self) -> wasmtime::Result<GuardInstance> {
        let limits = StoreLimitsBuilder::new()
            .memory_size(self.ready.limits.memory)
            .table_elements(100_000)
            .instances(1)
            .tables(16)
            .memories(1)
            .build();
        let mut store = Store::new(&self.ready.engine, InstanceLimits { limits });
        store.limiter(|guarded| &mut guarded.limits);
        store.set_fuel(self.ready.limits.fuel)?;
        store.set_epoch_deadline(1);
        let deadline = self.deadline;
        store.epoch_deadline_callback(move |_| match is_over(deadline) {
            true => Err(Trap::Interrupt.into()),
            false => Ok(UpdateDeadline::Continue(1)),
        });
        let instance: Instance = self.ready.linked.instantiate(&mut store)?;
        let memory = instance.get_memory(&mut store, "memory");
        let memory = memory.ok_or_else(|| wasmtime::Error::msg("there is no memory"))?;
        let alloc = instance.get_typed_func(&mut store, "alloc")?;
        let guard = instance.get_typed_func(&mut store, "guard")?;
        Ok(GuardInstance { store, memory, alloc, guard })
    }
}

fn index(at: u32) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// The cause of a trap in our own words. The engine's message goes to the operator.
fn failed(error: wasmtime::Error) -> Fault {
    let why = match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => "it used up its fuel",
        Some(Trap::Interrupt) => "it did not answer in time",
        _ => "it crashed",
    };
    no_verdict(why).note("module", format!("{error:#}"))
}
