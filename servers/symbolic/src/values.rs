//! Python's values: known, or with leaves that are terms.

mod exceptions;
mod kinds;
mod object;
mod pyvalue;
pub(crate) mod text;
mod value;

pub(crate) use exceptions::{ancestors, exception_named};
pub(crate) use kinds::{Kind, Type};
pub(crate) use object::{
    Class, ClassKind, Dict, DictKind, Function, Generator, Instance, Iter, Object, ObjectId, OpenList,
    ViewKind,
};
pub use pyvalue::{Field, PyValue};
pub(crate) use value::{Float, Int, OpenStr, Str, Truth, Value};
