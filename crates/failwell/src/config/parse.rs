//! From the text of the file to typed values, and the problems found on the way.

mod excerpt;
pub(super) mod interpolate;
pub(super) mod names;
pub(super) mod problem;
pub(super) mod reader;
pub(super) mod secret_spans;
pub(super) mod source;
pub(super) mod syntax;
mod value;
