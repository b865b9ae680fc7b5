//! What the operator decides.

use std::path::PathBuf;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_process::Launcher;
use failwell_shelf::Shelf;
use serde_json::{Map, Value};

/// What the operator decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The devices there are; without one every tool says what is missing.
    pub devices: Vec<DeviceSettings>,
    /// What starts drivers.
    pub launcher: Launcher,
    /// Where pictures, recordings and reports are kept; in memory, for as long as this program runs, without one.
    pub shelf: Option<Shelf>,
    /// Folders apps may be installed from.
    pub apps: Vec<PathBuf>,
    /// Capabilities callers may set, beside the harmless ones.
    pub allow_capabilities: Vec<String>,
    /// How long one answer of a driver may take.
    pub timeout: Duration,
    /// How long a driver and its session may take to start.
    pub start_timeout: Duration,
    /// After so long without a call a session is ended.
    pub idle: Duration,
    /// How long a call waits for its turn at a device.
    pub queue_wait: Duration,
    /// How many calls may wait for their turn at one device.
    pub queue: usize,
    /// The most bytes of one answer of a driver.
    pub largest_answer: usize,
    /// Pictures up to so many bytes stand in the answer itself; larger ones are linked.
    pub inline: usize,
}

impl Settings {
    /// These devices, with the usual bounds.
    pub fn of(devices: Vec<DeviceSettings>, launcher: Launcher) -> Settings {
        Settings {
            devices,
            launcher,
            shelf: None,
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

/// One device, and how it is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSettings {
    /// What callers call it.
    pub name: String,
    /// What drives it.
    pub driver: DriverKind,
    /// Where the driver is.
    pub reach: Reach,
    /// What its sessions are started with.
    pub capabilities: Map<String, Value>,
    /// Which simulator, for `simctl`.
    pub udid: Option<String>,
    /// How many sessions it has at once: one for a phone, more for a browser.
    pub sessions: usize,
}

impl DeviceSettings {
    /// A device with nothing special about it.
    pub fn new(name: impl Into<String>, driver: DriverKind, reach: Reach) -> DeviceSettings {
        let (name, capabilities) = (name.into(), Map::new());
        DeviceSettings { name, driver, reach, capabilities, udid: None, sessions: 1 }
    }
}

/// What drives a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DriverKind {
    /// Appium, with any of its drivers.
    Appium,
    /// `WebDriverAgent` without Appium in front of it.
    WebDriverAgent,
    /// Chromium's own driver, with a phone emulated in the browser.
    Chromedriver,
    /// `xcrun simctl`: simulators without anything installed in them.
    Simctl,
}

impl DriverKind {
    /// All of them, as they are written in settings.
    pub const NAMES: [&str; 4] = ["appium", "webdriveragent", "chromedriver", "simctl"];

    /// As it is written in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            DriverKind::Appium => "appium",
            DriverKind::WebDriverAgent => "webdriveragent",
            DriverKind::Chromedriver => "chromedriver",
            DriverKind::Simctl => "simctl",
        }
    }

    /// Reads a name.
    pub fn named(name: &str) -> Option<DriverKind> {
        let all =
            [DriverKind::Appium, DriverKind::WebDriverAgent, DriverKind::Chromedriver, DriverKind::Simctl];
        all.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Where a driver is.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// It runs already.
    Url {
        /// `http://host:port` with the driver's base path, if it has one.
        url: String,
        /// Headers a farm wants to see, such as its key.
        headers: Vec<(String, Secret<String>)>,
    },
    /// It is started when a session needs it; `{port}` in an argument becomes a free port of this machine.
    Command {
        /// The program: a path, or a name that is looked up in `PATH`.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
        /// Variables of our own environment it gets beside the usual ones.
        pass: Vec<String>,
    },
}
