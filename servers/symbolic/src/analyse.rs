//! The four analyses: the entry points of the engine.

mod annotations;
mod branches;
mod check;
mod compare;
mod conditions;
mod evaluate;
mod exception;
mod function;
pub mod replayer;
pub mod report;
mod search;
mod seed_inputs;
pub(crate) mod stack;

use std::sync::OnceLock;
use std::time::Instant;

pub use evaluate::Evaluation;

use crate::analyse::report::{BranchReport, CheckReport, CompareReport, ExceptionReport};
use crate::analyse::stack::with_deep_stack;
use crate::{Program, PyValue, Replayer};

/// The budget of an analysis. Steps decide; the deadline is the outer guard.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Instructions of the interpreter, for all paths together.
    pub interpreter_steps: u64,
    /// The solver's resource units (Z3's rlimit), for all queries together.
    pub solver_steps: u64,
    /// The solver's resource units for one query.
    pub question_steps: u64,
    /// The time when the result is due.
    pub deadline: Instant,
}

impl Budget {
    /// The budget that goes with a time limit in seconds.
    #[must_use]
    pub fn for_seconds(seconds: u32) -> Self {
        let steps = u64::from(seconds);
        Self {
            interpreter_steps: steps.saturating_mul(200_000),
            solver_steps: steps.saturating_mul(500_000),
            question_steps: 2_000_000,
            deadline: Instant::now() + std::time::Duration::from_secs(steps),
        }
    }
}

/// Receives the progress of an analysis.
pub trait Progress: Sync {
    /// A round of deepening ended.
    fn round(&self, round: u32, paths: u64);
}

/// Ignores progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn round(&self, _round: u32, _paths: u64) {}
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The step budget is exhausted.
    Steps,
    Deadline,
    /// The engine process exceeds the memory limit of an analysis.
    Memory,
}

/// A program to analyse, and what an analysis may use and spend.
#[derive(Clone, Copy)]
pub struct Analysis<'a> {
    pub program: &'a Program,
    pub budget: Budget,
    pub replayer: &'a dyn Replayer,
    pub progress: &'a dyn Progress,
}

impl Analysis<'_> {
    /// Checks whether the contract of `function` holds for every input.
    #[must_use]
    pub fn check(&self, function: &str) -> CheckReport {
        with_deep_stack(|| check::check(self, function)).unwrap_or_else(check::crashed)
    }

    /// Finds every place from which an exception of this class, or of a subclass, leaves `function`.
    #[must_use]
    pub fn find_exception(&self, function: &str, exception: &str) -> ExceptionReport {
        with_deep_stack(|| exception::find(self, function, exception)).unwrap_or_else(exception::crashed)
    }

    /// Checks whether two functions behave equally on every input.
    #[must_use]
    pub fn compare(&self, function_a: &str, function_b: &str) -> CompareReport {
        with_deep_stack(|| compare::compare(self, (function_a, function_b))).unwrap_or_else(compare::crashed)
    }

    /// Determines the reachable branch sides of `function`. With `Depth::Syntax` no code is executed and every
    /// side is unknown.
    #[must_use]
    pub fn branches(&self, function: &str, depth: Depth) -> BranchReport {
        with_deep_stack(|| branches::branches(self, function, depth)).unwrap_or_else(branches::crashed)
    }
}

/// Calls a function on known inputs in the engine's own interpreter, never in CPython. Tests compare the two.
#[must_use]
pub fn evaluate(program: &Program, function: &str, args: &[PyValue], steps: u64) -> Evaluation {
    with_deep_stack(|| evaluate::evaluate(program, function, args, steps))
        .unwrap_or_else(|| Evaluation::Unknown("the engine crashed".to_owned()))
}

/// The extent of [`Analysis::branches`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Syntax,
    /// The reachable branch sides.
    Reachability,
}

/// The name and version of the solver.
#[must_use]
pub fn solver() -> Option<String> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    FOUND.get_or_init(crate::solve::version).clone()
}
