//! The symbolic room: what a Python function does for every input, found without running it here.
//!
//! Code is parsed, lowered to a small stack code with explicit exception edges, and run by one interpreter whose values
//! have leaves that are either known or terms. Where a branch depends on a term the state forks; what is left undecided
//! is answered by hand or goes to an SMT solver.
//!
//! # Invariants
//!
//! * A counterexample is reported only after real CPython reproduced it, through [`Replayer`].
//! * "Verified", "unreachable" and "proven" are said only when every feasible path was executed, every obligation was
//!   unsatisfiable and nothing was approximated.
//! * What the engine does not know answers as an unsupported construct with its line, never as a guess.
//! * Code of a caller never runs in this process, and is analysed in another: an analysis that takes too much memory or
//!   crashes costs no other call.
//! * Budgets are steps, not seconds, so that the same call gives the same verdict on a busy machine; the deadline is
//!   only the outer guard.

pub mod analyse;
mod contracts;
#[cfg(unix)]
mod engine;
mod explore;
mod ir;
mod memory;
#[cfg(unix)]
pub mod once;
mod program;
#[cfg(unix)]
mod queue;
#[cfg(unix)]
pub mod replay;
mod replayer;
pub mod report;
#[cfg(unix)]
mod server;
mod solve;
mod stack;
mod terms;
#[cfg(unix)]
mod tools;
pub mod validate;
mod values;

pub use analyse::{Budget, Progress, Silent, Stop};
#[cfg(unix)]
pub use engine::{ENGINE_ARGUMENT, engine_main};
pub use program::{ParseProblem, Program};
#[cfg(unix)]
pub use queue::{AnalysisQueue, Settings, USUAL_MEMORY_MB};
pub use replayer::{
    Condition, ConditionOutcome, Ended, ReplayOutcome, ReplayProblem, ReplayRequest, Replayer,
};
#[cfg(unix)]
pub use server::symbolic;
pub use solve::Dialogue;
pub use values::{Field, PyValue};
