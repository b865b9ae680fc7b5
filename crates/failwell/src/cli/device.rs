//! Devices: serving them.

use std::path::PathBuf;

use clap::Args;

use super::Door;

/// Serve phones, simulators and mobile browsers
///
/// The devices come from [device] in the configuration, or one is named here. A driver that is not running is started
/// when a session needs it, and ends with it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell serve device                          the devices of failwell.toml
  failwell serve device --driver chromedriver    a phone emulated in Chromium
  failwell serve device --driver appium --url http://127.0.0.1:4723
  claude mcp add phone -- failwell serve device --driver chromedriver")]
pub(crate) struct Device {
    /// Configuration file; without it failwell.toml in this folder, if it is there
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// What drives the one device to serve, instead of those of the configuration
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) driver: Option<DriverIs>,
    /// Where that driver runs already; without it it is started
    #[arg(long, value_name = "URL", requires = "driver")]
    pub(crate) url: Option<String>,
    /// W3C capabilities of its sessions, as a JSON object
    #[arg(long, value_name = "JSON", requires = "driver")]
    pub(crate) capabilities: Option<String>,
    #[command(flatten)]
    pub(crate) door: Door,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DriverIs {
    /// Appium, with any of its drivers
    Appium,
    /// WebDriverAgent without Appium
    Webdriveragent,
    /// A phone emulated in Chromium
    Chromedriver,
    /// Simulators of Xcode
    Simctl,
}
