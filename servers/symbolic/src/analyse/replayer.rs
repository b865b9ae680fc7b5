//! The interface to processes outside the engine: sandboxed CPython, and the solver.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::{PyValue, SolverConnection};

/// Runs calls in a sandboxed CPython, and opens solvers.
pub trait Replayer: Sync {
    /// One call of one function, with conditions evaluated around it. Blocks until `request.deadline` at
    /// most.
    ///
    /// The module is executed unchanged. The modules `icontract` and `deal` are inert replacements there
    /// (their decorators return the decorated object), because the engine evaluates contracts through
    /// `conditions`.
    ///
    /// # Errors
    ///
    /// If the replay has no result. The engine then reports nothing that depends on this call.
    fn run(&self, request: &ReplayRequest<'_>) -> Result<ReplayOutcome, ReplayProblem>;

    /// An exclusive solver with global declarations. `None` if this machine has no solver.
    fn solver(&self) -> Option<Box<dyn SolverConnection>>;
}

/// One call to replay in CPython.
#[derive(Clone, Debug)]
pub struct ReplayRequest<'a> {
    /// The whole module.
    pub code: &'a str,
    /// The name of a function at the top level, or `Class.method`.
    pub function: &'a str,
    /// Positional arguments, as literals for the module's namespace.
    pub args: &'a [PyValue],
    pub kwargs: &'a [(String, PyValue)],
    /// The conditions, in order of evaluation: those with `before` before the call, the others after it.
    pub conditions: &'a [Condition],
    /// Conditions and loops to watch, by line and byte column: see [`ReplayOutcome::sides`].
    pub branches: &'a [(u32, u32)],
    /// The time limit.
    pub deadline: Instant,
}

/// A Python expression evaluated next to a call.
///
/// Its globals are the module's. Its names are the parameters by name, with defaults filled in and their
/// current values. After the call it has further names:
///
/// * `_`, `__return__` and `result`: the return value;
/// * `__old__` and `OLD`: an object with deep copies of the parameters from before the call as attributes;
/// * `__snapshots__`: see `snapshot`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    pub text: String,
    /// Whether it is evaluated before the call.
    pub before: bool,
    /// If set, the value is stored before the call as `OLD.<name>` instead of being a condition.
    pub snapshot: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ConditionOutcome {
    Holds,
    Fails,
    /// It raised an exception of this class.
    Raised(String),
    /// The call raised an exception, so the condition was not evaluated.
    NotEvaluated,
}

/// The result of a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayOutcome {
    pub ended: Completion,
    /// `repr` of each parameter after the call, in the order of the signature.
    pub args_after: Vec<String>,
    /// One outcome for each condition of the request.
    pub conditions: Vec<ConditionOutcome>,
    /// The taken branches, by their index in the request, each with its side: whether the condition held or
    /// the loop made a round.
    pub sides: Vec<(u32, bool)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Completion {
    /// The call returned.
    Returned {
        /// `repr` of the value, addresses replaced.
        repr: String,
        /// `type(value).__name__`.
        type_name: String,
        /// The value as data, if it is data.
        value: Option<PyValue>,
    },
    /// The call raised an exception.
    Raised {
        /// `type(error).__name__`.
        class: String,
        /// Names of the class and all its bases, in method resolution order.
        mro: Vec<String>,
        /// `str(error)`.
        message: String,
        /// Line of the analysed code that raised.
        line: Option<u32>,
        /// The traceback, frames of the analysed code only.
        traceback: String,
    },
}

/// The reason why a replay has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplayProblem {
    /// The deadline or the CPU limit passed before the call ended.
    TimedOut,
    /// The call exceeded the memory limit.
    OutOfMemory,
    /// The worker did not start or died. The text is for the log.
    Broken(String),
}
