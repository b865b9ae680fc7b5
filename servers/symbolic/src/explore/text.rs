//! Strings: their operations, formatting, Unicode tables and regular expressions.

pub(crate) mod format;
pub(crate) mod format_spec;
pub(crate) mod regex;
pub(crate) mod strings;
mod unbounded;
pub(crate) mod unicode;
