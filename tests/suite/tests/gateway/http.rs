//! Upstreams over HTTP.

mod auth;
mod cases;
pub(crate) mod cells;
mod faults;
mod life;
mod peers;
mod sse;
