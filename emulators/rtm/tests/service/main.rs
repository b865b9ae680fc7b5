//! The emulator over its own sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod account_methods;
mod checks;
mod control;
mod family;
mod faults;
mod lists;
mod login;
mod nonsense;
mod repeat;
mod shapes;
mod support;
mod sync;
mod tasks;
mod undo;
