//! Terms: what is known about a value that is not known. Hash-consed, folded when made, each with an interval.

mod arena;
mod eval;
mod fold;
mod interval;
mod show;
mod smt;

pub(crate) use arena::{BitOp, FloatOp, Node, Rounding, Sort, Term, Terms, Var};
pub(crate) use eval::{Model, Scalar, exact, nearest};
pub(crate) use interval::Interval;
pub(crate) use show::show;
pub(crate) use smt::{Printer, var_name};
