//! Upstreams over HTTP.

mod cases;
mod cells;
mod faults;
mod life;
mod peers;
