//! The schema validator, by itself and against another one.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

mod agreement;
mod bounds;
mod keywords;
mod oracle;
mod samples;
mod valid_schemas;
mod violation_order;
