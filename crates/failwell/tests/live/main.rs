//! Tests of the real program with real processes as upstreams and peers.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod approvals;
mod canary;
mod dialects;
mod folder;
mod forms;
mod guards;
mod guards_of_ones_own;
mod identity;
mod ledger;
mod node;
mod nodes;
mod pins;
mod place;
mod redis;
mod reload;
mod resources;
mod stored_files;
mod tokens;
