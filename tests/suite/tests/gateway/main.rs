//! The gateway in front of an upstream that misbehaves in every way: the black-box cases of its contract.

#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests are tests")]

mod client;
mod faults;
mod federation;
mod guarded;
mod guidance;
mod http;
mod late;
mod life;
mod notices;
mod passing;
mod peers;
mod reload;
mod rules;
mod schemas;
mod sessions;
mod slow;
mod starting;
mod tasks;
mod tool_failures;
mod watches;
mod words;

use failwell_suite::script;
