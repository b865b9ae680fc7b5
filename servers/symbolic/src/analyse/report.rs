//! Reports of analyses: verdicts with their proofs.

use serde::{Deserialize, Serialize};

use crate::PyValue;

/// The scope and the basis of a verdict.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Every feasible path was executed, every obligation decided, nothing approximated.
    pub exhaustive: bool,
    /// The number of completed paths.
    pub paths: u64,
    /// The bounds that limited the analysis, such as `loop at line 4`.
    pub bounds_hit: Vec<String>,
    /// Unsupported constructs that were reached.
    pub unsupported: Vec<UnsupportedConstruct>,
    /// Assumptions of the verdict.
    pub assumptions: Vec<String>,
    /// Over-approximated values, and loops that were proven by induction. A proof remains valid with them.
    pub abstractions: Vec<String>,
    /// The name and version of the solver, if it was used.
    pub solver: Option<String>,
    pub budget_used: BudgetUse,
    /// The number of calls replayed in CPython.
    pub replayed: u64,
    /// Candidates that CPython did not confirm. A value above zero is a reason to examine the engine.
    pub mismatches: u64,
}

/// A construct that the engine does not model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsupportedConstruct {
    /// The line, from 1.
    pub line: u32,
    pub construct: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetUse {
    /// Instructions of the interpreter.
    pub interpreter_steps: u64,
    pub solver_queries: u64,
    /// The solver's own resource units.
    pub solver_steps: u64,
}

/// The reason why an analysis has no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    /// The function does not exist.
    NoSuchFunction {
        /// The functions of the module.
        known: Vec<String>,
    },
    /// The verdict depends on a construct that the engine does not support.
    Unsupported(UnsupportedConstruct),
    /// The steps or the time ran out before a verdict.
    BudgetSpent,
    /// A bound limited the analysis before a verdict.
    BoundHit,
    /// The analysis exceeded the memory limit.
    MemorySpent {
        /// The limit in megabytes.
        limit_mb: u64,
    },
    /// No input satisfies the precondition, so there is nothing to check.
    Vacuous,
    /// The name is not an exception class of the module or the built-ins.
    NoSuchException,
    /// The query needs a solver, and none was found.
    NoSolver,
    /// Loading the module raises an exception.
    ModuleRaises {
        /// The name of the class.
        class: String,
        /// The line, from 1.
        line: u32,
    },
    /// A broken invariant of the engine. The text is for the log.
    Bug(String),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// All parameters by name, in the order of the signature, including `*args` and `**kwargs`.
    pub args: Vec<(String, PyValue)>,
    /// The number of positional arguments. The others are keyword arguments.
    pub positional: usize,
}

/// A call that breaks a contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counterexample {
    pub inputs: Inputs,
    /// The violated condition: `postcondition at line 3: _ > 0`, `ZeroDivisionError: division by zero`.
    pub violation: String,
    /// The `repr` of CPython's result, or `raises X: message`.
    pub actual_result: String,
    /// The branch conditions of the path, as Python expressions.
    pub path_condition: String,
    /// The line of the violation, from 1.
    pub line: u32,
    /// CPython's traceback, if the call raised an exception.
    pub stack_trace: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContractSource {
    /// `pre:`, `post:`, `raises:` lines of the docstring.
    Docstring,
    Asserts,
    /// Decorators of icontract.
    Icontract,
    /// Decorators of deal.
    Deal,
    /// No contract was written: no exception may leave the function.
    Implicit,
}

/// Verdict of [`crate::analyse::Analysis::check`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CheckVerdict {
    /// The contract holds for every input.
    Verified,
    /// These calls break the contract. Each was replayed.
    Counterexamples(Vec<Counterexample>),
    /// There is no finding, but the analysis is not exhaustive: see the proof.
    Inconclusive(Failure),
    /// The analysis failed.
    Failed(Failure),
}

/// The report of [`crate::analyse::Analysis::check`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    pub verdict: CheckVerdict,
    pub contracts: Vec<ContractSource>,
    /// No input satisfies the precondition, so nothing was checked.
    pub vacuous: bool,
    /// The number of started paths.
    pub paths_explored: u64,
    /// The number of paths on which every obligation was proven.
    pub paths_verified: u64,
    /// Covered branch sides over feasible ones, 0 to 1.
    pub coverage_estimate: f64,
    pub proof: Proof,
}

/// Verdict of [`crate::analyse::Analysis::find_exception`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ExceptionVerdict {
    /// Calls that raise it, one for each place. Each was replayed.
    Found(Vec<Counterexample>),
    /// No input makes the exception leave the function.
    Unreachable,
    /// The exception was neither found nor excluded.
    Failed(Failure),
}

/// The report of [`crate::analyse::Analysis::find_exception`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExceptionReport {
    pub verdict: ExceptionVerdict,
    /// The number of paths that end in the exception.
    pub paths_to_exception: u64,
    /// The number of started paths.
    pub total_paths_explored: u64,
    pub proof: Proof,
}

/// Verdict of [`crate::analyse::Analysis::compare`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CompareVerdict {
    /// No input distinguishes the two. It is proven if the proof is exhaustive.
    Equivalent,
    /// This input distinguishes the two.
    Different(Difference),
    /// The analysis failed.
    Failed(Failure),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub inputs: Inputs,
    /// The outcome of the first function in CPython: a `repr`, or `raises X: message`.
    pub function_a_result: String,
    /// The outcome of the second function.
    pub function_b_result: String,
    pub explanation: String,
}

/// The report of [`crate::analyse::Analysis::compare`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompareReport {
    pub verdict: CompareVerdict,
    /// The number of compared pairs of paths.
    pub paths_compared: u64,
    pub proof: Proof,
}

/// Whether a branch side can be taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reachability {
    /// CPython took it with this call.
    Yes(Inputs),
    /// No input takes it.
    No,
    /// Unknown, because of a bound or the budget.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// The line of the condition, from 1.
    pub line: u32,
    /// The condition as written.
    pub condition: String,
    /// The side taken if the condition holds.
    pub when_true: Reachability,
    /// The other side.
    pub when_false: Reachability,
}

/// The report of [`crate::analyse::Analysis::branches`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BranchReport {
    /// All branches, sorted by line.
    pub branches: Vec<Branch>,
    /// Lines that are proven to be unreachable.
    pub dead_code_lines: Vec<u32>,
    /// McCabe's cyclomatic complexity.
    pub cyclomatic_complexity: u32,
    /// The reason why there is no result.
    pub failure: Option<Failure>,
    pub proof: Proof,
}
