//! Parts behind a start: the ledger, stored files, custom guards and shared state.

#[cfg(feature = "postgres")]
mod archive;
pub(super) mod blob_store;
pub(super) mod custom_guards;
pub(super) mod ledger;
pub(super) mod shared;
pub(super) mod upstreams;
