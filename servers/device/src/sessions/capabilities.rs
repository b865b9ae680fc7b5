//! The capabilities of a session: those of the driver, of the operator and of the caller. Capabilities can
//! make a driver run programs and read files of its machine, so those of a caller are checked.

use failwell_fault::{Echo, Fault};
use serde_json::{Map, Value, json};

use crate::device::chrome_capabilities;
use crate::reason;
use crate::settings::{DeviceSettings, DriverKind, Settings};

/// Capabilities that callers may set: an installed app, the language, the handling of alerts. None of them
/// names a file, a program or an address.
const HARMLESS: [&str; 18] = [
    "acceptInsecureCerts",
    "unhandledPromptBehavior",
    "pageLoadStrategy",
    "timeouts",
    "appium:bundleId",
    "appium:appPackage",
    "appium:appActivity",
    "appium:language",
    "appium:locale",
    "appium:orientation",
    "appium:noReset",
    "appium:fullReset",
    "appium:autoAcceptAlerts",
    "appium:autoDismissAlerts",
    "appium:autoGrantPermissions",
    "appium:autoLaunch",
    "appium:forceAppLaunch",
    "appium:calendarFormat",
];
/// The additional time, in seconds, that Appium keeps an idle session beyond our own limit.
const LONGER: u64 = 60;

/// Merges all capabilities. The caller's have precedence.
pub(crate) fn resolve(
    device: &DeviceSettings,
    asked: &Map<String, Value>,
    settings: &Settings,
) -> Result<Map<String, Value>, Fault> {
    let mut whole = Map::new();
    match device.driver {
        DriverKind::Chromedriver => merge(&mut whole, &chrome_capabilities()),
        // If this program dies, Appium ends the session after this time.
        DriverKind::Appium => {
            merge(&mut whole, &json!({"appium:newCommandTimeout": settings.idle.as_secs() + LONGER}));
        }
        DriverKind::WebDriverAgent | DriverKind::Simctl => {}
    }
    merge(&mut whole, &Value::Object(device.capabilities.clone()));
    for (name, value) in asked {
        let is_allowed = HARMLESS.contains(&name.as_str()) || settings.allow_capabilities.contains(name);
        if !is_allowed {
            return Err(Fault::new(&reason::DEVICE_CAPABILITY_DENIED).fact("name", Echo::of_caller(name)));
        }
        whole.insert(name.clone(), value.clone());
    }
    Ok(whole)
}

/// Merges objects, joins lists, replaces other values.
fn merge(whole: &mut Map<String, Value>, more: &Value) {
    for (name, value) in more.as_object().into_iter().flatten() {
        match (whole.get_mut(name), value) {
            (Some(Value::Object(known)), Value::Object(_)) => merge(known, value),
            (Some(Value::Array(known)), Value::Array(more)) => {
                known.extend(more.iter().filter(|it| !known.contains(it)).cloned().collect::<Vec<_>>());
            }
            _ => {
                whole.insert(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use failwell_process::Launcher;
    use serde_json::{Map, Value, json};

    use super::resolve;
    use crate::settings::{DeviceSettings, DriverKind, Reach, Settings};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn callers_choose_among_what_is_harmless() {
        let reach = Reach::Url { url: "http://127.0.0.1:1".into(), headers: Vec::new() };
        let mut device = DeviceSettings::new("b", DriverKind::Chromedriver, reach);
        device.capabilities = object(json!({"goog:chromeOptions": {"args": ["--no-sandbox", "--headless"]}}));
        let mut settings = Settings::new(Vec::new(), Launcher::at("/bin/false"));
        let whole = resolve(&device, &object(json!({"acceptInsecureCerts": true})), &settings).unwrap();
        let options = &whole["goog:chromeOptions"];
        let args: Vec<&str> =
            options["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(args.iter().filter(|it| **it == "--headless").count(), 1);
        assert!(args.contains(&"--no-sandbox") && options["mobileEmulation"].is_object());
        assert_eq!(whole["acceptInsecureCerts"], true);
        for name in ["goog:chromeOptions", "appium:app", "appium:webDriverAgentUrl", "webSocketUrl", "proxy"]
        {
            let refused = resolve(&device, &object(json!({name: "x"})), &settings).unwrap_err();
            assert_eq!(refused.reason().id, "device/CAPABILITY_DENIED", "{name}");
        }
        settings.allow_capabilities.push("appium:app".into());
        assert!(resolve(&device, &object(json!({"appium:app": "x"})), &settings).is_ok());
    }
}
