//! Commands for keys, tokens, approvals and pins.

pub(super) mod approve;
mod consent_location;
mod decision;
pub(super) mod key;
pub(super) mod login;
pub(super) mod pin;
