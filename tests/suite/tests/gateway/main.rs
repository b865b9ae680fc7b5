//! The gateway with upstreams that misbehave in every way, tested from outside.

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
