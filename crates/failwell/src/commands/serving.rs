//! Commands that serve: `up`, `stdio` and `serve`, and the reload of their configuration.

mod entrance;
pub(super) mod one;
mod reload;
pub(super) mod serve;
mod served;
mod service_manager;
mod start_error;
pub(super) mod stdio;
pub(super) mod up;
mod watch;
