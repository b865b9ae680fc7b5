//! Types, classes and instances: construction, attributes and comparison.

pub(crate) mod attributes;
pub(crate) mod classes;
pub(crate) mod compare;
pub(crate) mod construct;
pub(crate) mod types;
