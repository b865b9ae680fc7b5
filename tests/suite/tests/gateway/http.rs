//! Upstreams over HTTP.

mod auth;
pub(crate) mod cells;
mod faults;
mod lifecycle;
mod peers;
mod sse;
