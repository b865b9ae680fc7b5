//! `[device]` and `[[device.devices]]`: the device server.

use std::path::PathBuf;
use std::time::Duration;

use failwell_device::{DeviceSettings, DriverKind, Reach};
use serde_json::{Map, Value};

use super::upstream::{address_at, headers, is_exposed};
use crate::config::keys::{
    DEVICE_ANSWER, DEVICE_IDLE, DEVICE_QUEUE, DEVICE_QUEUE_WAIT, DEVICE_SESSIONS, DEVICE_START,
    DEVICE_TIMEOUT,
};
use crate::config::parse::names::{is_upstream, is_variable};
use crate::config::parse::reader::{Reader, Section, SourceValue};
use crate::config::settings::Endpoint;

/// The settings of the device server.
#[derive(Debug, PartialEq)]
pub(crate) struct DeviceConfig {
    pub(crate) devices: Vec<DeviceSettings>,
    pub(crate) apps: Vec<PathBuf>,
    pub(crate) allow_capabilities: Vec<String>,
    pub(crate) timeout: Duration,
    pub(crate) start_timeout: Duration,
    pub(crate) idle: Duration,
    pub(crate) queue: usize,
    pub(crate) queue_wait: Duration,
    pub(crate) largest_answer: usize,
}

impl Default for DeviceConfig {
    fn default() -> DeviceConfig {
        DeviceConfig {
            devices: Vec::new(),
            apps: Vec::new(),
            allow_capabilities: Vec::new(),
            timeout: Duration::from_secs(DEVICE_TIMEOUT.default),
            start_timeout: Duration::from_secs(DEVICE_START.default),
            idle: Duration::from_secs(DEVICE_IDLE.default),
            queue: count(DEVICE_QUEUE.default),
            queue_wait: Duration::from_secs(DEVICE_QUEUE_WAIT.default),
            largest_answer: count(DEVICE_ANSWER.default),
        }
    }
}

fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

pub(in crate::config) fn read(reader: &mut Reader<'_>, root: &Section<'_>) -> DeviceConfig {
    let Some(section) = reader.table(root, "device") else { return DeviceConfig::default() };
    let apps = reader.texts(&section, "apps").unwrap_or_default();
    let apps = apps.into_iter().map(|found| folder(reader, &found)).collect();
    let allowed = reader.texts(&section, "allow_capabilities").unwrap_or_default();
    let mut devices: Vec<DeviceSettings> = Vec::new();
    for one in reader.tables(&section, "devices") {
        let known: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
        devices.push(device(reader, &one, &known));
    }
    DeviceConfig {
        devices,
        apps,
        allow_capabilities: allowed.into_iter().map(|found| found.value).collect(),
        timeout: Duration::from_secs(reader.number(&section, &DEVICE_TIMEOUT)),
        start_timeout: Duration::from_secs(reader.number(&section, &DEVICE_START)),
        idle: Duration::from_secs(reader.number(&section, &DEVICE_IDLE)),
        queue: count(reader.number(&section, &DEVICE_QUEUE)),
        queue_wait: Duration::from_secs(reader.number(&section, &DEVICE_QUEUE_WAIT)),
        largest_answer: count(reader.number(&section, &DEVICE_ANSWER)),
    }
}

fn folder(reader: &mut Reader<'_>, found: &SourceValue<String>) -> PathBuf {
    let path = reader.folder.join(&found.value);
    if found.value.is_empty() || !path.is_dir() {
        let help = "name a folder that exists; relative paths start at the folder of this file";
        reader.wrong(&found.span, &found.key, "this is not a folder", help);
    }
    path
}

fn device(reader: &mut Reader<'_>, section: &Section<'_>, known: &[String]) -> DeviceSettings {
    let name = name(reader, section, known);
    if !section.has("driver") {
        let help = "add driver = \"…\": `appium`, `webdriveragent`, `chromedriver` or `simctl`";
        reader.missing(section, "driver", "the device has no driver", help);
    }
    let driver = reader.choice(section, "driver").and_then(DriverKind::named);
    let driver = driver.unwrap_or(DriverKind::Chromedriver);
    let mut device = DeviceSettings::new(name, driver, reach(reader, section, driver));
    device.capabilities = capabilities(reader, section);
    device.udid = udid(reader, section, driver);
    device.sessions = count(reader.number(section, &DEVICE_SESSIONS));
    device
}

fn name(reader: &mut Reader<'_>, section: &Section<'_>, known: &[String]) -> String {
    if !section.has("name") {
        reader.missing(
            section,
            "name",
            "the device has no name",
            "add name = \"…\": lowercase letters, digits, - and _",
        );
    }
    let Some(found) = reader.text(section, "name") else { return String::new() };
    if !is_upstream(&found.value) {
        let help =
            "use lowercase letters, digits, - and single _, beginning with a letter and not ending in _";
        reader.wrong(&found.span, &found.key, "this cannot be the name of a device", help);
    } else if known.contains(&found.value) {
        let message = format!("`{}` is the name of two devices", found.value);
        reader.wrong(&found.span, &found.key, message, "rename one of them");
    }
    found.value
}

/// The address of a running driver, or the command that starts one.
fn reach(reader: &mut Reader<'_>, section: &Section<'_>, driver: DriverKind) -> Reach {
    match (section.has("url"), section.has("command")) {
        (true, true) => reader.wrong(
            &section.key_span("url"),
            &section.path("url"),
            "the device has both `command` and `url`",
            "keep `command` for a driver to start, or `url` for one that already runs",
        ),
        (true, false) if driver == DriverKind::Simctl => reader.wrong(
            &section.key_span("url"),
            &section.path("url"),
            "`url` has no effect with `simctl`",
            "remove it: simctl is a program of this machine",
        ),
        (false, false) if driver == DriverKind::WebDriverAgent => {
            let help = "add url = \"http://127.0.0.1:8100\"";
            reader.missing(section, "url", "the device has no driver address", help);
        }
        _ => {}
    }
    let command = words(reader, section);
    let headers = headers(reader, section).into_iter().collect();
    let pass = variables(reader, section);
    match url(reader, section) {
        Some(url) if command.is_empty() => Reach::Url { url, headers },
        _ => {
            let mut words = command.into_iter();
            let program = words.next().unwrap_or_else(|| usual_program(driver).to_owned());
            Reach::Command { program: program.into(), arguments: words.collect(), pass }
        }
    }
}

/// The program that starts a driver by default.
pub(crate) fn usual_program(driver: DriverKind) -> &'static str {
    match driver {
        DriverKind::Appium => "appium",
        DriverKind::Chromedriver | DriverKind::WebDriverAgent => "chromedriver",
        DriverKind::Simctl => "xcrun",
    }
}

fn url(reader: &mut Reader<'_>, section: &Section<'_>) -> Option<String> {
    let endpoint = address_at(reader, section, "url")?;
    if is_exposed(&endpoint)
        && let Some(text) = reader.text(section, "url")
    {
        let help = "begin it with https://, or use an address of this machine: typed text is sent there";
        reader.wrong(&text.span, &text.key, "`url` is not encrypted", help);
    }
    let Endpoint(uri) = endpoint;
    Some(uri.to_string())
}

fn words(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<String> {
    let Some(words) = reader.texts(section, "command") else { return Vec::new() };
    if words.first().is_none_or(|program| program.value.trim().is_empty()) {
        let help = "name the program first: command = [\"appium\", \"server\", \"--port\", \"{port}\"]";
        reader.wrong(
            &section.key_span("command"),
            &section.path("command"),
            "`command` has no program",
            help,
        );
    }
    for word in words.iter().filter(|word| word.value.contains('\0')) {
        reader.wrong(&word.span, &word.key, "`command` has a NUL character", "remove it");
    }
    words.into_iter().map(|word| word.value).collect()
}

fn variables(reader: &mut Reader<'_>, section: &Section<'_>) -> Vec<String> {
    let names = reader.texts(section, "env_pass").unwrap_or_default();
    for name in names.iter().filter(|name| !is_variable(&name.value)) {
        let help = "use letters, digits and underscores, such as \"PATH\"";
        reader.wrong(&name.span, &name.key, "this cannot be the name of a variable", help);
    }
    names.into_iter().map(|name| name.value).collect()
}

/// Reads capabilities of any shape. Placeholders in every text are expanded, because device farms need keys
/// here.
fn capabilities(reader: &mut Reader<'_>, section: &Section<'_>) -> Map<String, Value> {
    let mut capabilities = Map::new();
    for (name, value) in reader.anything(section, "capabilities") {
        let value = filled(reader, &name, value);
        capabilities.insert(name.value, value);
    }
    capabilities
}

fn filled(reader: &mut Reader<'_>, at: &SourceValue<String>, value: Value) -> Value {
    match value {
        Value::String(text) => {
            let found = SourceValue { value: text, span: at.span.clone(), key: at.key.clone() };
            reader.filled(&found).map_or(Value::Null, Value::String)
        }
        Value::Array(items) => items.into_iter().map(|item| filled(reader, at, item)).collect(),
        Value::Object(members) => {
            let each = members.into_iter().map(|(name, inner)| (name, filled(reader, at, inner)));
            Value::Object(each.collect())
        }
        other => other,
    }
}

fn udid(reader: &mut Reader<'_>, section: &Section<'_>, driver: DriverKind) -> Option<String> {
    let found = reader.text(section, "udid")?;
    if driver != DriverKind::Simctl {
        let help = "remove it, or write it among the capabilities as \"appium:udid\"";
        reader.wrong(&found.span, &found.key, "`udid` needs the driver `simctl`", help);
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !found.value.starts_with(|c: char| c.is_ascii_alphanumeric()) || !found.value.chars().all(plain) {
        let help = "write the id `xcrun simctl list devices` shows, or booted";
        reader.wrong(&found.span, &found.key, "this is not the id of a simulator", help);
    }
    Some(found.value)
}
