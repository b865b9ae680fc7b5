//! Symbolic execution of Python: proves properties of a function for every input, without running it in this
//! process.
//!
//! Code is parsed and lowered to a small stack code with explicit exception edges. One interpreter runs it;
//! the leaves of its values are either known or terms. The state forks where a branch depends on a term. The
//! presolver or an SMT solver decides path conditions.
//!
//! # Invariants
//!
//! * A counterexample is reported only after real CPython reproduced it, through [`Replayer`].
//! * "Verified", "unreachable" and "proven" are reported only if every feasible path was executed, every
//!   obligation was unsatisfiable and nothing was approximated.
//! * A construct that the engine does not model is reported as unsupported, with its line; the engine never
//!   guesses.
//! * Code of a caller never runs in this process, and is analysed in another process: an analysis that takes
//!   too much memory or crashes costs no other call.
//! * Budgets are steps, not seconds, so that the same call gives the same verdict on a busy machine; the
//!   deadline is only the outer guard.

pub mod analyse;
#[cfg(unix)]
mod engine;
mod explore;
mod frontend;
mod memory;
#[cfg(unix)]
mod queue;
pub mod reason;
#[cfg(unix)]
pub mod replay;
#[cfg(unix)]
mod server;
mod solve;
mod terms;
mod values;

pub use analyse::replayer::{
    Completion, Condition, ConditionOutcome, ReplayOutcome, ReplayProblem, ReplayRequest, Replayer,
};
pub use analyse::{Budget, NoProgress, Progress, StopReason, report};
#[cfg(unix)]
pub use engine::{ENGINE_ARGUMENT, engine_main};
pub use frontend::program::{ParseProblem, Program};
pub use frontend::validate;
#[cfg(unix)]
pub use queue::{AnalysisQueue, DEFAULT_MEMORY_MB, Settings};
pub use reason::REASONS;
#[cfg(unix)]
pub use server::{once, symbolic};
pub use solve::SolverConnection;
pub use values::{InstanceField, PyValue};
