//! Commands that serve: `up`, `stdio` and `serve`, and the reload of their configuration.

pub(super) mod entrance;
pub(super) mod one;
mod reload;
pub(super) mod serve;
mod served;
mod start_error;
pub(super) mod stdio;
pub(super) mod up;
mod watch;
