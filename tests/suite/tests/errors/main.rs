//! Everything that can go wrong, sent over every transport in every revision of the protocol.
//!
//! The tables under `tables/` are the contract: what is sent, and exactly what must come back. Each case asserts
//! kind, code, id, HTTP status and reason, that nothing private came back, that the message is valid by the
//! official schema, that the journal has exactly one line under the same reference, and that the connection
//! still works. What needs more than one message is told as a story under `flows/`.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "helpers of tests are tests"
)]

mod case;
mod client;
mod flows;
mod judge;
mod runner;
mod schemas;
mod tables;
mod world;

use failwell_suite::client::{received_message, requests};
