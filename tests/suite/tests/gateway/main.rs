//! The gateway in front of an upstream that misbehaves in every way: the black-box cases of its contract.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

mod calls;
mod client;
mod failures;
mod http;
mod lists;
mod peers;
mod policy;
mod reload;
mod sessions;
mod slow_start;

use failwell_suite::script;
