//! The tasks server against the emulator of Remember The Milk: every tool, every fault, and a model to compare with.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod conversation;
mod faults;
mod login;
mod model;
mod talk;
mod tools;
mod world;
