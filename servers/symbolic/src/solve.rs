//! The solver: a `z3 -in` child, asked in SMT-LIB.

mod child;
mod find;
mod reply;
mod z3;

pub(crate) use find::{find, version};
pub(crate) use z3::{Answer, Solver};
