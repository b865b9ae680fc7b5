//! Emulators of services.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Start an emulator of a service, for tests and for trying things out
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell emulate rtm
  failwell emulate rtm --listen 127.0.0.1:8585 --seed empty
  failwell emulate wda --listen 127.0.0.1:8100")]
pub(crate) struct Emulate {
    #[command(subcommand)]
    pub(crate) service: EmulatorKind,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EmulatorKind {
    Rtm(EmulateRtm),
    Wda(EmulateWda),
}

/// Emulate the web service of Remember The Milk
///
/// Implements the service's methods and its approval page in memory. Nothing is stored, and the real service is never
/// contacted. Only this machine can connect. /_control/ sets faults, the clock and the account.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell emulate rtm
  failwell emulate rtm --seed empty --no-rate-limit
  failwell emulate rtm --listen 127.0.0.1:8585 --seed account.json
  curl -s http://127.0.0.1:8585/_control/fail -d '{\"kind\": \"unavailable\", \"times\": 3}'")]
pub(crate) struct EmulateRtm {
    /// Loopback address and port to listen on; port 0 selects a free one
    #[arg(long, value_name = "ADDR", value_parser = crate::config::listen_address, default_value = "127.0.0.1:0")]
    pub(crate) listen: std::net::SocketAddr,
    /// Initial content of the account: demo, empty, or a JSON file
    #[arg(long, value_name = "demo|empty|FILE", default_value = "demo")]
    pub(crate) seed: PathBuf,
    /// Turn off the rate limit of one request per second with a burst of three
    #[arg(long)]
    pub(crate) no_rate_limit: bool,
}

/// Emulate WebDriverAgent on an iPhone
///
/// The phone has one small app, Pantry, with a login, a list, a picker, alerts and tabs. Appium's XCUITest driver uses it
/// like a real phone. Only this machine can connect. /_control/ sets faults.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell emulate wda
  failwell emulate wda --listen 127.0.0.1:8100
  curl -s http://127.0.0.1:8100/source
  curl -s http://127.0.0.1:8100/_control/fail -d '{\"kind\": \"hang\", \"commands\": \"POST */click\", \"times\": 1}'")]
pub(crate) struct EmulateWda {
    /// Loopback address and port to listen on; port 0 selects a free one
    #[arg(long, value_name = "ADDR", value_parser = crate::config::listen_address, default_value = "127.0.0.1:0")]
    pub(crate) listen: std::net::SocketAddr,
}
