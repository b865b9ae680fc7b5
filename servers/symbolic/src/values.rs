//! Python values: known, or with leaves that are terms.

mod builtin_type;
mod exceptions;
mod object;
mod pyvalue;
pub(crate) mod text;
mod value;

pub(crate) use builtin_type::{BuiltinType, Type};
pub(crate) use exceptions::{ancestors, exception_named};
pub(crate) use object::{
    Class, ClassKind, Dict, DictKind, Function, Generator, Instance, IteratorState, Object, ObjectId,
    UnboundedList, ViewKind,
};
pub use pyvalue::{InstanceField, PyValue};
pub(crate) use value::{Bool, Float, Int, Str, UnboundedStr, Value};
