//! Invalid input and failing calls, over every transport in every revision of the protocol.
//!
//! The tables under `tables/` define each message and its expected response. Each case checks kind, code, id, HTTP status
//! and reason. It also checks that the response has no private text and is valid by the official schema, that the journal
//! has exactly one line with the same reference, and that the connection still works. Tests of several messages are under
//! `flows/`.

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
