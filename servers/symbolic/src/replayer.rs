//! The door to what runs outside this process: real CPython, and the solver. The engine asks through it; the room's workers
//! answer.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::{Dialogue, PyValue};

/// Runs calls in real CPython, in a sandbox, and solvers.
pub trait Replayer: Sync {
    /// One call of one function, with conditions evaluated around it. Blocks until `request.deadline` at most.
    ///
    /// The module is executed as it is; the modules `icontract` and `deal` are inert stand-ins there (their decorators
    /// return what they decorate), because the engine evaluates contracts through `conditions`.
    ///
    /// # Errors
    ///
    /// When no answer could be had; the engine then reports nothing that rests on this call.
    fn run(&self, request: &ReplayRequest<'_>) -> Result<ReplayOutcome, ReplayProblem>;

    /// A solver that nobody else talks to, and whose declarations are global. `None` when there is none on this machine.
    fn solver(&self) -> Option<Box<dyn Dialogue>>;
}

/// A call to be made.
#[derive(Clone, Debug)]
pub struct ReplayRequest<'a> {
    /// The whole module.
    pub code: &'a str,
    /// Name of a function at its top level, or `Class.method`.
    pub function: &'a str,
    /// Positional arguments, as literals for the module's namespace.
    pub args: &'a [PyValue],
    /// Keyword arguments.
    pub kwargs: &'a [(String, PyValue)],
    /// Evaluated in this order: those `before` before the call, the rest after it.
    pub conditions: &'a [Condition],
    /// Conditions and loops of the code to be watched, by line and by bytes before them in the line: see
    /// [`ReplayOutcome::sides`].
    pub branches: &'a [(u32, u32)],
    /// When to give up.
    pub deadline: Instant,
}

/// A Python expression evaluated next to a call.
///
/// Its globals are the module's. Its names are the parameters by name (defaults filled in, current values), and after
/// the call `_`, `__return__` and `result` (the value returned), `__old__` and `OLD` (an object whose attributes are
/// deep copies of the parameters from before the call) and `__snapshots__` (see `snapshot`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// The expression.
    pub text: String,
    /// Evaluated before the call rather than after it.
    pub before: bool,
    /// When set, the value is kept before the call as `OLD.<name>` instead of being a truth.
    pub snapshot: Option<String>,
}

/// How a condition came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ConditionOutcome {
    /// True.
    Holds,
    /// False.
    Fails,
    /// It raised; the name of the class.
    Raised(String),
    /// The call raised, so there was nothing to evaluate it on.
    NotEvaluated,
}

/// What CPython did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayOutcome {
    /// How the call ended.
    pub ended: Ended,
    /// `repr` of each parameter after the call, in the order of the signature.
    pub args_after: Vec<String>,
    /// One for each condition of the request.
    pub conditions: Vec<ConditionOutcome>,
    /// Branches of the request that were taken, by their place in it, and on which side: whether the condition held, or the
    /// loop made a round.
    pub sides: Vec<(u32, bool)>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    /// It returned.
    Returned {
        /// `repr` of the value, addresses replaced.
        repr: String,
        /// `type(value).__name__`.
        type_name: String,
        /// The value as data, where it is data.
        value: Option<PyValue>,
    },
    /// It raised.
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

/// Why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplayProblem {
    /// The deadline or the CPU limit passed: the call did not end.
    TimedOut,
    /// The memory limit was hit.
    OutOfMemory,
    /// The worker could not be had or died; for the log.
    Broken(String),
}
