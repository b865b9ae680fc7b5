//! The sections about callers and content: keys, tokens, access rules, limits, guards and approvals.

pub(super) mod cedar;
pub(super) mod consent;
pub(super) mod custom;
pub(super) mod guard;
pub(super) mod identity;
pub(super) mod jwt;
pub(super) mod limits;
pub(super) mod rules;
