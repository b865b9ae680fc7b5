//! Converts Python source to intermediate code: parsing, validation, contracts and lowering.

pub(crate) mod contracts;
pub(crate) mod ir;
pub(crate) mod program;
pub mod validate;
