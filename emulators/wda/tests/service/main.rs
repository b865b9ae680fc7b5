//! The emulator over its own sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod app;
mod faults;
mod pictures;
mod protocol;
mod support;
