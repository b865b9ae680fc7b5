//! Satisfiability of path conditions. The presolver answers where it is certain. Otherwise a `z3 -in` outside
//! of this process answers in SMT-LIB.

mod find;
#[cfg(unix)]
mod pool;
mod presolve;
mod s_expression;
mod z3;

use std::time::Instant;

pub(crate) use find::{find, version};
#[cfg(unix)]
pub(crate) use pool::{SolverLease, SolverPool};
pub(crate) use z3::{SatResult, Solver};

/// A connection to a running solver.
pub trait SolverConnection: Send {
    /// Sends commands and returns the output. `None` if the solver has ended or the deadline passed. The
    /// connection is unusable then.
    fn ask(&mut self, commands: &str, deadline: Instant) -> Option<String>;
}
