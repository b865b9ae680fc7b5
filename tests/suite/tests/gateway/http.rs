//! Upstreams over HTTP.

mod auth;
mod cases;
mod cells;
mod faults;
mod life;
mod peers;
mod sse;
