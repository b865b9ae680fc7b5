//! Callers, tokens, guards, approvals and pins.

mod approvals;
mod custom_guards;
mod guards;
pub(super) mod identity;
mod pins;
mod tokens;
