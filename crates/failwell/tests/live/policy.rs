//! Callers, tokens, guards, approvals and pins.

mod approvals;
mod guards;
mod guards_of_ones_own;
pub(super) mod identity;
mod pins;
mod tokens;
