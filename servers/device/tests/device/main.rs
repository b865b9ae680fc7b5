//! The device server against drivers that fail in every way, and against a real browser.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may stop at the first surprise"
)]

mod browser;
mod dialects;
mod emulated_driver;
mod faults;
#[path = "../../../../crates/toolbox/tests/schema/oracle.rs"]
mod oracle;
mod queue;
mod references;
mod shapes;
mod talk;
