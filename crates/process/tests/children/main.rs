//! Real children under real supervisors: input, limits, sandbox and cleanup.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod limits;
mod metadata;
mod plan;
mod sandbox;
mod support;
mod tree;
