//! The four analyses: the engine's front door.

mod annotations;
mod branches;
mod check;
mod compare;
mod conditions;
mod evaluate;
mod exception;
mod pool;
mod search;
mod subject;

use std::sync::OnceLock;
use std::time::Instant;

pub use evaluate::Evaluation;

use crate::report::{BranchReport, CheckReport, CompareReport, ExceptionReport};
use crate::stack::deep;
use crate::{Program, PyValue, Replayer};

/// What an analysis may spend. Steps decide; the deadline is the outer guard.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Instructions of the interpreter, all paths together.
    pub interpreter_steps: u64,
    /// The solver's resource units (Z3's rlimit), all questions together.
    pub solver_steps: u64,
    /// The solver's resource units for one question.
    pub question_steps: u64,
    /// When the answer has to be there.
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

/// Told how an analysis goes on.
pub trait Progress: Sync {
    /// A round of deepening ended.
    fn round(&self, round: u32, paths: u64);
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn round(&self, _round: u32, _paths: u64) {}
}

/// Why an analysis ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Steps ran out.
    Steps,
    /// The deadline passed.
    Deadline,
    /// The engine process holds more memory than an analysis may take.
    Memory,
}

/// Whether the contract of `function` holds for every input.
#[must_use]
pub fn check(
    program: &Program,
    function: &str,
    budget: &Budget,
    replayer: &dyn Replayer,
    progress: &dyn Progress,
) -> CheckReport {
    deep(|| check::check(program, function, budget, replayer, progress)).unwrap_or_else(check::crashed)
}

/// Every place from which an exception of this class, or of a subclass, leaves `function`.
#[must_use]
pub fn find_exception(
    program: &Program,
    function: &str,
    exception: &str,
    budget: &Budget,
    replayer: &dyn Replayer,
    progress: &dyn Progress,
) -> ExceptionReport {
    deep(|| exception::find(program, function, exception, budget, replayer, progress))
        .unwrap_or_else(exception::crashed)
}

/// Whether two functions do the same on every input.
#[must_use]
pub fn compare(
    program: &Program,
    function_a: &str,
    function_b: &str,
    budget: &Budget,
    replayer: &dyn Replayer,
    progress: &dyn Progress,
) -> CompareReport {
    deep(|| compare::compare(program, (function_a, function_b), budget, replayer, progress))
        .unwrap_or_else(compare::crashed)
}

/// Which sides of the branches of `function` can be taken. With `Depth::Syntax` nothing is executed and every side is
/// unknown.
#[must_use]
pub fn branches(
    program: &Program,
    function: &str,
    depth: Depth,
    budget: &Budget,
    replayer: &dyn Replayer,
    progress: &dyn Progress,
) -> BranchReport {
    deep(|| branches::branches(program, function, depth, budget, replayer, progress))
        .unwrap_or_else(branches::crashed)
}

/// Calls a function on known inputs in the engine's own interpreter, never in CPython. For comparing the two.
#[must_use]
pub fn evaluate(program: &Program, function: &str, args: &[PyValue], steps: u64) -> Evaluation {
    deep(|| evaluate::evaluate(program, function, args, steps))
        .unwrap_or_else(|| Evaluation::Unknown("the engine crashed".to_owned()))
}

/// How deep [`branches`] looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The syntax only.
    Syntax,
    /// Which sides are reachable.
    Reachability,
}

/// Name and version of the solver that analyses will use.
#[must_use]
pub fn solver() -> Option<String> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    FOUND.get_or_init(crate::solve::version).clone()
}
