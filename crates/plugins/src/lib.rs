//! Custom guards: WebAssembly modules and child processes that the operator provides.
//!
//! A custom guard is a WebAssembly module ([`WasmModule`]) or a child process that speaks JSON lines
//! ([`GuardProcess`]). Both implement [`CustomGuard`](failwell_policy::guard::custom::CustomGuard): they get
//! one message and return a verdict, or fail. The pipeline decides the consequence of a failure.
//!
//! # Invariants
//!
//! * A module gets a new instance for every request, so no data of one message reaches the next. It has no
//!   imports and can reach only its own memory. Time, memory and the number of instances are bounded.
//! * A child runs under a supervisor, with the environment that its settings name. It is restarted with
//!   back-off and a restart budget. Every request in flight fails when it ends.
//! * Every request has a deadline, every verdict a maximum size, every queue a bound.
//! * A verdict is parsed strictly ([`CustomVerdict`](failwell_policy::guard::custom::CustomVerdict)). A
//!   guard's text is never quoted to a caller.

mod failure;
mod process;
mod wasm;

pub use process::{ChildSettings, GuardProcess};
pub use wasm::{LoadError, ModuleLimits, WasmModule};

/// Maximum size of a verdict, in bytes.
pub const LONGEST_VERDICT: usize = 64 * 1024;
