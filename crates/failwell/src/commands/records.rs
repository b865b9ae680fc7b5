//! Commands that read the ledger.

pub(super) mod audit;
pub(super) mod explain;
