//! Upstreams over HTTP.

mod auth;
mod cells;
mod faults;
mod life;
mod peers;
mod sse;
