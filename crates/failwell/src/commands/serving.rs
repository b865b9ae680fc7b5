//! Commands that serve: `up`, `stdio` and `serve`, and the reload of their configuration.

pub(super) mod endpoint;
mod first_screen;
mod reload;
pub(super) mod serve;
mod served_gateway;
mod server_directory;
mod server_log;
mod service_manager;
pub(super) mod single_server;
mod start_error;
pub(super) mod stdio;
pub(super) mod up;
mod watch;
