//! Upstreams over HTTP.

mod auth;
pub(crate) mod cells;
mod faults;
mod life;
mod peers;
mod sse;
