//! Commands that serve: `up`, `stdio` and `serve`, and the reload of their configuration.

mod entrance;
mod first_screen;
pub(super) mod one;
mod reload;
pub(super) mod serve;
mod served;
mod server_directory;
mod server_log;
mod start_error;
pub(super) mod stdio;
pub(super) mod up;
mod watch;
