//! The operator's settings.

use std::path::PathBuf;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_process::Launcher;
use failwell_store::blob_store::BlobStore;
use serde_json::{Map, Value};

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The devices. Without any, every tool reports the missing configuration.
    pub devices: Vec<DeviceSettings>,
    /// Starts drivers.
    pub launcher: Launcher,
    /// The store for screenshots, recordings and reports. Without one they stay in memory until this program
    /// ends.
    pub blobs: Option<BlobStore>,
    /// Folders that apps may be installed from.
    pub apps: Vec<PathBuf>,
    /// Capabilities that callers may set, in addition to the harmless ones.
    pub allow_capabilities: Vec<String>,
    /// Timeout of one response of a driver.
    pub timeout: Duration,
    /// Timeout of the start of a driver and its session.
    pub start_timeout: Duration,
    /// Idle time after which a session is ended.
    pub idle: Duration,
    /// Maximum time that a call waits for a device.
    pub queue_wait: Duration,
    /// Maximum number of calls waiting for one device.
    pub queue: usize,
    /// Maximum size of a driver's response, in bytes.
    pub largest_answer: usize,
    /// Maximum size of an inline picture, in bytes. Larger ones are linked.
    pub inline: usize,
}

impl Settings {
    /// These devices with default limits.
    pub fn new(devices: Vec<DeviceSettings>, launcher: Launcher) -> Settings {
        Settings {
            devices,
            launcher,
            blobs: None,
            apps: Vec::new(),
            allow_capabilities: Vec::new(),
            timeout: Duration::from_secs(30),
            start_timeout: Duration::from_secs(120),
            idle: Duration::from_secs(600),
            queue_wait: Duration::from_secs(30),
            queue: 16,
            largest_answer: 64 << 20,
            inline: 3 << 20,
        }
    }
}

/// One device and its driver.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSettings {
    /// The name for callers.
    pub name: String,
    pub driver: DriverKind,
    /// The address or command of the driver.
    pub reach: Reach,
    /// The capabilities of its sessions.
    pub capabilities: Map<String, Value>,
    /// The simulator, for `simctl`.
    pub udid: Option<String>,
    /// Maximum number of sessions at the same time: one for a phone, more for a browser.
    pub sessions: usize,
}

impl DeviceSettings {
    /// A device with default settings.
    pub fn new(name: impl Into<String>, driver: DriverKind, reach: Reach) -> DeviceSettings {
        let (name, capabilities) = (name.into(), Map::new());
        DeviceSettings { name, driver, reach, capabilities, udid: None, sessions: 1 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverKind {
    /// Appium with any of its drivers.
    Appium,
    /// `WebDriverAgent` without Appium.
    WebDriverAgent,
    /// Chromium's own driver, with a phone emulated in the browser.
    Chromedriver,
    /// `xcrun simctl`: simulators without an agent in them.
    Simctl,
}

impl DriverKind {
    /// All names in settings.
    pub const NAMES: [&str; 4] = ["appium", "webdriveragent", "chromedriver", "simctl"];

    /// The name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            DriverKind::Appium => "appium",
            DriverKind::WebDriverAgent => "webdriveragent",
            DriverKind::Chromedriver => "chromedriver",
            DriverKind::Simctl => "simctl",
        }
    }

    /// Finds a driver by its name.
    pub fn named(name: &str) -> Option<DriverKind> {
        let all =
            [DriverKind::Appium, DriverKind::WebDriverAgent, DriverKind::Chromedriver, DriverKind::Simctl];
        all.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The address of a driver.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// A running driver.
    Url {
        /// `http://host:port` with the base path of the driver, if it has one.
        url: String,
        /// Headers of a device farm, such as an API key.
        headers: Vec<(String, Secret<String>)>,
    },
    /// A driver that is started when a session needs it. `{port}` in an argument becomes a free port.
    Command {
        /// A path, or a name that is searched in `PATH`.
        program: PathBuf,
        arguments: Vec<String>,
        /// Environment variables that are passed on, in addition to the usual ones.
        pass: Vec<String>,
    },
}
