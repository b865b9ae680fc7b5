//! Unbounded loops: induction over guessed invariants.

pub(crate) mod induction;
pub(crate) mod invariants;
