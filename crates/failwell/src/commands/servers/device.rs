//! Settings of the device server.

use failwell_device::{DeviceSettings, DriverKind, Reach, Settings};
use failwell_fault::Fault;
use failwell_process::Launcher;
use failwell_store::blob_store::BlobStore;
use serde_json::{Map, Value};

use crate::cli::{Device, DriverChoice};
use crate::commands::backends::blob_store;
use crate::commands::serving::serve;
use crate::complaint::Complaint;
use crate::config::{Config, is_exposed_url, usual_program};

pub(in crate::commands) fn settings(config: &Config, shelf: Option<BlobStore>) -> Result<Settings, Fault> {
    let device = &config.device;
    Ok(Settings {
        blobs: shelf,
        apps: device.apps.clone(),
        allow_capabilities: device.allow_capabilities.clone(),
        timeout: device.timeout,
        start_timeout: device.start_timeout,
        idle: device.idle,
        queue: device.queue,
        queue_wait: device.queue_wait,
        largest_answer: device.largest_answer,
        ..Settings::new(device.devices.clone(), Launcher::of_this_program()?)
    })
}

/// Settings for one command: the device of the command line, otherwise the devices of the file.
pub(in crate::commands) fn settle(config: &Config, arguments: &Device) -> Result<Settings, Complaint> {
    let mut settings =
        settings(config, blob_store::open(config)).map_err(|fault| serve::unexpected(&fault))?;
    if let Some(driver) = arguments.driver {
        settings.devices = vec![typed(arguments, kind(driver))?];
    }
    if settings.devices.is_empty() {
        return Err(Complaint::new(
            "no device is configured",
            "name one, such as --driver chromedriver, or add [[device.devices]] to failwell.toml",
        ));
    }
    Ok(settings)
}

fn kind(driver: DriverChoice) -> DriverKind {
    match driver {
        DriverChoice::Appium => DriverKind::Appium,
        DriverChoice::Webdriveragent => DriverKind::WebDriverAgent,
        DriverChoice::Chromedriver => DriverKind::Chromedriver,
        DriverChoice::Simctl => DriverKind::Simctl,
    }
}

fn typed(arguments: &Device, driver: DriverKind) -> Result<DeviceSettings, Complaint> {
    let reach = match &arguments.url {
        Some(url) => {
            match is_exposed_url(url) {
                Some(false) => {}
                Some(true) => {
                    return Err(Complaint::new(
                        "the driver would be reached without encryption",
                        "begin --url with https://, or use an address of this machine: typed text is sent there",
                    ));
                }
                None => {
                    return Err(Complaint::new(
                        "the address of the driver is none",
                        "write it as --url http://127.0.0.1:4723",
                    ));
                }
            }
            Reach::Url { url: url.clone(), headers: Vec::new() }
        }
        None if driver == DriverKind::WebDriverAgent => {
            return Err(Complaint::new(
                "WebDriverAgent runs on the phone and cannot be started from here",
                "say where it is: --url http://127.0.0.1:8100",
            ));
        }
        None => {
            let program = usual_program(driver).into();
            Reach::Command { program, arguments: Vec::new(), pass: Vec::new() }
        }
    };
    let mut device = DeviceSettings::new("device", driver, reach);
    device.capabilities = capabilities(arguments)?;
    Ok(device)
}

fn capabilities(arguments: &Device) -> Result<Map<String, Value>, Complaint> {
    let Some(text) = &arguments.capabilities else { return Ok(Map::new()) };
    serde_json::from_str(text).map_err(|_| {
        let help = "write them as one object: --capabilities '{\"platformName\": \"iOS\"}'";
        Complaint::new("the capabilities are no JSON object", help)
    })
}
