//! Connections to a server inside the process.

pub(crate) mod http;
pub(crate) mod stdio;

pub(crate) use failwell_suite::client::{soon, wire};
