//! The values of the interpreter.

use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::{ObjectId, Type};
use crate::frontend::ir::Name;
use crate::terms::Term;

/// A Python bool: known, or a term.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Bool {
    Known(bool),
    Term(Term),
}

/// A Python int: known, or a term.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Int {
    Known(Rc<BigInt>),
    Term(Term),
}

impl Int {
    pub(crate) fn known(&self) -> Option<&BigInt> {
        if let Self::Known(value) = self { Some(value) } else { None }
    }

    pub(crate) fn small(&self) -> Option<i64> {
        self.known().and_then(ToPrimitive::to_i64)
    }
}

impl<T: Into<BigInt>> From<T> for Int {
    fn from(value: T) -> Self {
        Self::Known(Rc::new(value.into()))
    }
}

/// A Python float: known, or a term.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Float {
    Known(f64),
    Term(Term),
}

/// A Python str: its code points.
#[derive(Clone, Debug)]
pub(crate) enum Str {
    Known(Rc<Vec<u32>>),
    /// Known length, with code points as integer terms.
    Chars(Rc<Vec<Term>>),
    /// An input with an undecided length.
    Open(Rc<UnboundedStr>),
}

/// A string of unknown length, or a part of one. Its code points are variables named after it.
#[derive(Clone, Debug)]
pub(crate) struct UnboundedStr {
    pub(crate) name: String,
    /// Its start in the named string.
    pub(crate) offset: usize,
    pub(crate) length: Term,
}

impl Str {
    pub(crate) fn of(text: &str) -> Self {
        Self::Known(Rc::new(text.chars().map(u32::from).collect()))
    }
}

/// A Python value. Mutable values, and those with an identity, are on the heap.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    None,
    NotImplemented,
    Ellipsis,
    Bool(Bool),
    Int(Int),
    Float(Float),
    Str(Str),
    Bytes(Rc<Vec<u8>>),
    Tuple(Rc<Vec<Value>>),
    /// Start, stop, step.
    Range(Rc<[Int; 3]>),
    Slice(Rc<[Value; 3]>),
    Object(ObjectId),
    Type(Type),
    /// A built-in function, by its name: `len`, `math.sqrt`.
    Builtin(&'static str),
    /// A bound method of a value of a built-in type.
    Method(Rc<(Value, Name)>),
    Module(&'static str),
}

impl Value {
    pub(crate) fn bool(value: bool) -> Self {
        Self::Bool(Bool::Known(value))
    }

    pub(crate) fn int(value: impl Into<BigInt>) -> Self {
        Self::Int(value.into().into())
    }

    pub(crate) fn float(value: f64) -> Self {
        Self::Float(Float::Known(value))
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Str(Str::of(text))
    }

    pub(crate) fn points(points: Vec<u32>) -> Self {
        Self::Str(Str::Known(Rc::new(points)))
    }

    pub(crate) fn tuple(items: Vec<Self>) -> Self {
        Self::Tuple(Rc::new(items))
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// A string with known code points, as a Rust string.
    pub(crate) fn as_text(&self) -> Option<String> {
        match self {
            Self::Str(Str::Known(points)) => super::text::to_string(points),
            _ => None,
        }
    }
}
