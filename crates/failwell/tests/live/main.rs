//! Tests of the real program with real processes as upstreams and peers.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod canary;
mod dialects;
mod files;
mod ledger;
mod nodes;
mod policy;
mod reload;
mod setup;
mod working_folder;
