//! Upstreams over HTTP.

mod cells;
mod faults;
mod life;
mod peers;
