//! Stand-ins for services.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Start a stand-in for a service, for tests and for trying things out
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell emulate rtm
  failwell emulate rtm --listen 127.0.0.1:8585 --seed empty
  failwell emulate wda --listen 127.0.0.1:8100")]
pub(crate) struct Emulate {
    #[command(subcommand)]
    pub(crate) service: Emulated,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Emulated {
    Rtm(EmulateRtm),
    Wda(EmulateWda),
}

/// Start a stand-in for the web service of Remember The Milk
///
/// It answers the service's methods, its approval page included, from memory: nothing is kept, and nothing reaches the
/// real service. Only this machine can connect. Faults, the clock and the account are set under /_control/.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell emulate rtm
  failwell emulate rtm --seed empty --no-rate-limit
  failwell emulate rtm --listen 127.0.0.1:8585 --seed account.json
  curl -s http://127.0.0.1:8585/_control/fail -d '{\"kind\": \"unavailable\", \"times\": 3}'")]
pub(crate) struct EmulateRtm {
    /// Address and port to listen on, of this machine; port 0 takes any free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: std::net::SocketAddr,
    /// What the account starts with: demo, empty, or a JSON file
    #[arg(long, value_name = "demo|empty|FILE", default_value = "demo")]
    pub(crate) seed: PathBuf,
    /// Let any number of requests through, not one a second and three at once
    #[arg(long)]
    pub(crate) no_rate_limit: bool,
}

/// Start a stand-in for WebDriverAgent on an iPhone
///
/// A phone with one small app, Pantry, whose screen really changes: a login, a list, a picker, alerts and tabs. Appium's
/// XCUITest driver uses it as it uses a phone. Only this machine can connect. Faults are set under /_control/.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell emulate wda
  failwell emulate wda --listen 127.0.0.1:8100
  curl -s http://127.0.0.1:8100/source
  curl -s http://127.0.0.1:8100/_control/fail -d '{\"kind\": \"hang\", \"commands\": \"POST */click\", \"times\": 1}'")]
pub(crate) struct EmulateWda {
    /// Address and port to listen on, of this machine; port 0 takes any free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: std::net::SocketAddr,
}
