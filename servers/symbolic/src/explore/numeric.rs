//! Integers and floats: arithmetic, division and comparison.

mod arithmetic;
pub(crate) mod division;
pub(crate) mod numbers;
