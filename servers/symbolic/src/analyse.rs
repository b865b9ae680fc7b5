//! The four analyses: the engine's front door.

use std::time::Instant;

use crate::report::{
    BranchReport, CheckReport, CheckVerdict, CompareReport, CompareVerdict, ExceptionReport,
    ExceptionVerdict, Failure, Proof, Unsupported,
};
use crate::{Program, Replayer};

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
            interpreter_steps: steps.saturating_mul(400_000),
            solver_steps: steps.saturating_mul(2_000_000),
            question_steps: 2_000_000,
            deadline: Instant::now() + std::time::Duration::from_secs(steps),
        }
    }
}

/// Told how an analysis goes on, and asked whether it should.
pub trait Progress {
    /// A round of deepening ended.
    fn round(&self, round: u32, paths: u64);

    /// Whether the caller went away.
    fn is_cancelled(&self) -> bool {
        false
    }
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
    /// The caller went away.
    Cancelled,
}

fn unsupported() -> Failure {
    Failure::Unsupported(Unsupported { line: 1, construct: "everything".to_owned() })
}

/// Whether the contract of `function` holds for every input.
#[must_use]
pub fn check(
    _program: &Program,
    _function: &str,
    _budget: &Budget,
    _replayer: &dyn Replayer,
    _progress: &dyn Progress,
) -> CheckReport {
    CheckReport {
        verdict: CheckVerdict::Failed(unsupported()),
        contracts: Vec::new(),
        vacuous: false,
        paths_explored: 0,
        paths_verified: 0,
        coverage_estimate: 0.0,
        proof: Proof::default(),
    }
}

/// Every place from which an exception of this class, or of a subclass, leaves `function`.
#[must_use]
pub fn find_exception(
    _program: &Program,
    _function: &str,
    _exception: &str,
    _budget: &Budget,
    _replayer: &dyn Replayer,
    _progress: &dyn Progress,
) -> ExceptionReport {
    ExceptionReport {
        verdict: ExceptionVerdict::Failed(unsupported()),
        paths_to_exception: 0,
        total_paths_explored: 0,
        proof: Proof::default(),
    }
}

/// Whether two functions do the same on every input.
#[must_use]
pub fn compare(
    _program: &Program,
    _function_a: &str,
    _function_b: &str,
    _budget: &Budget,
    _replayer: &dyn Replayer,
    _progress: &dyn Progress,
) -> CompareReport {
    CompareReport {
        verdict: CompareVerdict::Failed(unsupported()),
        paths_compared: 0,
        proof: Proof::default(),
    }
}

/// Which sides of the branches of `function` can be taken. With `Depth::Syntax` nothing is executed and every side is
/// unknown.
#[must_use]
pub fn branches(
    _program: &Program,
    _function: &str,
    _depth: Depth,
    _budget: &Budget,
    _replayer: &dyn Replayer,
    _progress: &dyn Progress,
) -> BranchReport {
    BranchReport {
        branches: Vec::new(),
        dead_code_lines: Vec::new(),
        cyclomatic_complexity: 1,
        failure: Some(unsupported()),
        proof: Proof::default(),
    }
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
    None
}
