//! The intermediate code: a small stack code with explicit exception edges, and the lowering of syntax to it.
//!
//! Between statements the stack of a frame is empty: iterators of loops, exits of `with` and values about to be
//! returned live in hidden locals, so that every jump out of a block leaves the stack as it found it.

mod classes;
mod code;
mod comprehensions;
mod expressions;
mod lower;
mod patterns;
mod scope;
mod statements;
mod strings;
mod targets;
mod trying;

pub(crate) use code::{BinaryOp, Code, CompareOp, Const, Conversion, Name, Op, UnaryOp};
pub(crate) use lower::{lower_expression, lower_library, lower_module};
