//! The intermediate code: a small stack code with explicit exception edges, and the lowering of syntax to it.
//!
//! Between statements the stack of a frame is empty, so that every jump out of a block leaves the stack
//! unchanged. Iterators of loops, exits of `with` and pending return values are in hidden locals.

mod classes;
mod code;
mod comprehensions;
mod exceptions;
mod expressions;
mod lower;
mod patterns;
mod statements;
mod strings;
mod symbol_table;
mod targets;

pub(crate) use code::{BinaryOp, Code, CompareOp, Const, Conversion, Name, Op, UnaryOp};
pub(crate) use lower::{lower_expression, lower_library, lower_module};
