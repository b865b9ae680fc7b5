//! The device server.

use std::path::PathBuf;

use clap::Args;

use super::ServeOptions;

/// Serve phones, simulators and mobile browsers
///
/// Devices come from [device] in the configuration, or one is given by --driver. A driver that does not run yet is started
/// when a session needs it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  failwell serve device                          the devices in failwell.toml
  failwell serve device --driver chromedriver    a phone emulated in Chromium
  failwell serve device --driver appium --url http://127.0.0.1:4723
  claude mcp add phone -- failwell serve device --driver chromedriver")]
pub(crate) struct Device {
    /// Configuration file [default: failwell.toml in this folder, else in the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Driver of one device to serve instead of those in the configuration
    #[arg(long, value_name = "DRIVER", value_enum)]
    pub(crate) driver: Option<DriverChoice>,
    /// Address of a running driver; without it, the driver is started
    #[arg(long, value_name = "URL", requires = "driver")]
    pub(crate) url: Option<String>,
    /// W3C capabilities of its sessions, as a JSON object
    #[arg(long, value_name = "JSON", requires = "driver")]
    pub(crate) capabilities: Option<String>,
    #[command(flatten)]
    pub(crate) serving: ServeOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DriverChoice {
    /// Appium, with any of its drivers
    Appium,
    /// WebDriverAgent without Appium
    Webdriveragent,
    /// A phone emulated in Chromium
    Chromedriver,
    /// Simulators of Xcode
    Simctl,
}
