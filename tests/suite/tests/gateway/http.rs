//! Upstreams over HTTP.

mod cases;
pub(crate) mod cells;
mod faults;
mod life;
mod peers;
