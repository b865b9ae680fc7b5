//! The tasks server with the emulator of Remember The Milk: every tool, every fault, and a model test.

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
mod lost_answers;
mod model;
#[path = "../../../../crates/toolbox/tests/schema/oracle.rs"]
mod oracle;
mod tools;
mod world;
