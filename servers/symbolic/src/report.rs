//! What an analysis found, and how far it can be trusted.

use serde::{Deserialize, Serialize};

use crate::PyValue;

/// How much of the function was covered, and how.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Every feasible path was executed, every obligation decided, nothing approximated.
    pub exhaustive: bool,
    /// Paths that ended.
    pub paths: u64,
    /// Bounds that cut something off, in words: `loop at line 4`.
    pub bounds_hit: Vec<String>,
    /// Constructs the engine does not know that were reached.
    pub unsupported: Vec<Unsupported>,
    /// What the verdict takes for granted.
    pub assumptions: Vec<String>,
    /// What had more values in the analysis than it can have, and loops that were proven by induction. A proof holds all
    /// the same.
    pub abstractions: Vec<String>,
    /// Name and version of the solver, when one was asked.
    pub solver: Option<String>,
    /// What was spent.
    pub budget_used: Spent,
    /// Calls that real CPython replayed.
    pub replayed: u64,
    /// Candidates that real CPython did not confirm. Never zero without reason for a look at the engine.
    pub mismatches: u64,
}

/// A construct outside the engine's Python.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsupported {
    /// Line, from 1.
    pub line: u32,
    /// What it is.
    pub construct: String,
}

/// Steps spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Instructions of the interpreter.
    pub interpreter_steps: u64,
    /// Questions put to the solver.
    pub solver_queries: u64,
    /// The solver's own resource units.
    pub solver_steps: u64,
}

/// Why an analysis has no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// No such function; the names there are.
    NoSuchFunction {
        /// Functions of the module.
        known: Vec<String>,
    },
    /// A construct outside the engine's Python decides the answer.
    Unsupported(Unsupported),
    /// Steps or time ran out before a verdict.
    BudgetSpent,
    /// A bound cut something off before a verdict.
    BoundHit,
    /// The analysis took more memory than it may.
    MemorySpent {
        /// The limit.
        limit_mb: u64,
    },
    /// No input satisfies the precondition, so that there is nothing to check.
    Vacuous,
    /// The name is no exception class that the module or the built-ins know.
    NoSuchException,
    /// No solver to be found, and the question needs one.
    NoSolver,
    /// The module itself fails when it is loaded; the class of the exception and its line.
    ModuleRaises {
        /// Name of the class.
        class: String,
        /// Line, from 1.
        line: u32,
    },
    /// The engine broke a promise of its own; for the log.
    Bug(String),
}

/// Arguments of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// Every parameter by name, in the order of the signature. Names of `*args` and `**kwargs` included.
    pub args: Vec<(String, PyValue)>,
    /// How many of them are passed by position; the rest go by keyword.
    pub positional: usize,
}

/// One call that breaks a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counterexample {
    /// The call.
    pub inputs: Inputs,
    /// What is broken: `postcondition at line 3: _ > 0`, `ZeroDivisionError: division by zero`.
    pub violation: String,
    /// `repr` of the result as CPython gave it, or `raises X: message`.
    pub actual_result: String,
    /// The branch conditions that lead there, in Python's words.
    pub path_condition: String,
    /// Line of the violation, from 1.
    pub line: u32,
    /// CPython's traceback, when it raised.
    pub stack_trace: String,
}

/// Where a contract was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContractSource {
    /// `pre:`, `post:`, `raises:` lines of the docstring.
    Docstring,
    /// `assert` statements.
    Asserts,
    /// Decorators of icontract.
    Icontract,
    /// Decorators of deal.
    Deal,
    /// None was written: no uncaught exception may leave the function.
    Implicit,
}

/// Verdict of [`crate::analyse::check`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CheckVerdict {
    /// The contract holds for every input.
    Verified,
    /// It is broken by these calls, each replayed.
    Counterexamples(Vec<Counterexample>),
    /// Nothing was found, and not everything was seen: see the proof.
    Inconclusive(Failure),
    /// The analysis could not be made.
    Failed(Failure),
}

/// Answer of [`crate::analyse::check`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// The verdict.
    pub verdict: CheckVerdict,
    /// What was checked.
    pub contracts: Vec<ContractSource>,
    /// No input satisfies the precondition, so that nothing was checked.
    pub vacuous: bool,
    /// Paths begun.
    pub paths_explored: u64,
    /// Paths on which every obligation was proven.
    pub paths_verified: u64,
    /// Covered branch sides over feasible ones, 0 to 1.
    pub coverage_estimate: f64,
    /// How far it can be trusted.
    pub proof: Proof,
}

/// Verdict of [`crate::analyse::find_exception`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ExceptionVerdict {
    /// Calls that raise it, one for each place, each replayed.
    Found(Vec<Counterexample>),
    /// No input makes it leave the function.
    Unreachable,
    /// Neither found nor excluded.
    Failed(Failure),
}

/// Answer of [`crate::analyse::find_exception`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExceptionReport {
    /// The verdict.
    pub verdict: ExceptionVerdict,
    /// Paths that end in the exception.
    pub paths_to_exception: u64,
    /// Paths begun.
    pub total_paths_explored: u64,
    /// How far it can be trusted.
    pub proof: Proof,
}

/// Verdict of [`crate::analyse::compare`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CompareVerdict {
    /// No input tells the two apart. Proven when the proof is exhaustive.
    Equivalent,
    /// This one does.
    Different(Difference),
    /// Neither.
    Failed(Failure),
}

/// An input on which two functions differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The call.
    pub inputs: Inputs,
    /// What the first did, by CPython: a `repr`, or `raises X: message`.
    pub function_a_result: String,
    /// What the second did.
    pub function_b_result: String,
    /// In words.
    pub explanation: String,
}

/// Answer of [`crate::analyse::compare`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareReport {
    /// The verdict.
    pub verdict: CompareVerdict,
    /// Pairs of paths compared.
    pub paths_compared: u64,
    /// How far it can be trusted.
    pub proof: Proof,
}

/// Whether a branch side can be taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reach {
    /// It was, in CPython, with this call.
    Yes(Inputs),
    /// No input does.
    No,
    /// Unknown: a bound or the budget came first.
    Unknown,
}

/// A branch of the function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// Line of the condition, from 1.
    pub line: u32,
    /// The condition as written.
    pub condition: String,
    /// The side taken when it holds.
    pub when_true: Reach,
    /// The other side.
    pub when_false: Reach,
}

/// Answer of [`crate::analyse::branches`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BranchReport {
    /// Every branch, in order of lines.
    pub branches: Vec<Branch>,
    /// Lines no input reaches, proven.
    pub dead_code_lines: Vec<u32>,
    /// McCabe's number.
    pub cyclomatic_complexity: u32,
    /// Why nothing could be said, when so.
    pub failure: Option<Failure>,
    /// How far it can be trusted.
    pub proof: Proof,
}
