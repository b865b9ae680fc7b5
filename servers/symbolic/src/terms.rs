//! Terms: symbolic expressions for unknown values. They are hash-consed, folded on creation, and have an
//! interval.

mod arena;
mod eval;
mod fold;
mod interval;
mod show;
mod smt;

pub(crate) use arena::{BitOp, FloatOp, RoundingMode, Sort, Term, TermNode, Terms, Var};
pub(crate) use eval::{Model, Scalar, exact, nearest};
pub(crate) use interval::Interval;
pub(crate) use show::show;
pub(crate) use smt::{SmtPrinter, var_name};
