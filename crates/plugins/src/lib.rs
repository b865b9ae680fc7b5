//! The bench: guards the operator wrote, and where they run.
//!
//! A custom guard is a WebAssembly module ([`Module`]) or a child process that speaks JSON lines ([`Kept`]). Both are
//! [`Judge`](failwell_policy::guard::custom::Judge)s: they are asked about one message and give a verdict, or fail to. What
//! follows from a failure is decided where they are asked.
//!
//! # Invariants
//!
//! * A module gets a fresh instance for every question: nothing of one message is left for the next. It has no imports, so
//!   that it can reach nothing but its own memory; time, memory and the number of instances are bounded.
//! * A child runs under a supervisor, with the environment its plan names. It is started again when it ends, more and more
//!   slowly and not for ever; every question that was on its way when it ended fails.
//! * Every question has a deadline, every verdict a largest size, every queue a bound.
//! * What a guard says is understood strictly ([`Opinion`](failwell_policy::guard::custom::Opinion)) and never quoted to
//!   a caller.

mod child;
mod failure;
#[cfg(feature = "wasm")]
mod wasm;
#[cfg(not(feature = "wasm"))]
#[path = "wasm_absent.rs"]
mod wasm;

pub use child::{ChildSettings, Kept};
pub use wasm::{Flaw, Module, ModuleLimits};

/// The longest verdict, in bytes.
pub const LONGEST_VERDICT: usize = 64 * 1024;
