//! Whether a path can be taken: answered by hand where that is certain, else by a `z3 -in` that runs outside this process,
//! asked in SMT-LIB.

mod by_hand;
mod find;
#[cfg(unix)]
mod pool;
mod reply;
mod z3;

use std::time::Instant;

pub(crate) use find::{find, version};
#[cfg(unix)]
pub(crate) use pool::{Lent, Solvers};
pub(crate) use z3::{Answer, Solver};

/// A solver that is running.
pub trait Dialogue: Send {
    /// Sends commands, and returns what was said to them. `None` when it is gone or the deadline passed: it is of no use then.
    fn ask(&mut self, commands: &str, deadline: Instant) -> Option<String>;
}
