//! Platform-specific names and behaviour.

use serde_json::{Map, Value};

use super::Permission;
use super::chrome::no_such_choice;
use crate::w3c::{DriverError, ElementId, WebDriverClient, WebDriverErrorCode};

/// Selects a value of a picker. Apple's driver turns a wheel in both directions until it shows the value. A
/// wheel without the value fails at once, because waiting does not help.
pub(super) async fn pick(
    client: &WebDriverClient,
    element: &ElementId,
    value: &str,
) -> Result<(), DriverError> {
    let is_wheel = client.tag(element).await? == "XCUIElementTypePickerWheel";
    match client.enter(element, value).await {
        Err(trouble)
            if is_wheel
                && (trouble.is(WebDriverErrorCode::NotInteractable)
                    || trouble.is(WebDriverErrorCode::Unknown)) =>
        {
            Err(no_such_choice())
        }
        done => done,
    }
}

/// Capabilities that a caller may see. Others contain paths and addresses of the driver's machine.
const REPORTED: [&str; 12] = [
    "platformName",
    "platformVersion",
    "browserName",
    "browserVersion",
    "automationName",
    "deviceName",
    "deviceModel",
    "sdkVersion",
    "bundleId",
    "CFBundleIdentifier",
    "appPackage",
    "device",
];

/// The harmless part of the capabilities that a driver reported.
pub(crate) fn capabilities(capabilities: &Map<String, Value>) -> Value {
    let shown = capabilities.iter().filter_map(|(name, value)| {
        let short = name.rsplit(':').next().unwrap_or(name);
        let is_plain = value.is_string() || value.is_number() || value.is_boolean();
        (REPORTED.contains(&short) && is_plain).then(|| (short.to_owned(), value.clone()))
    });
    Value::Object(shown.collect())
}

/// The Android permission names.
pub(super) fn android_permissions(permission: Permission) -> &'static [&'static str] {
    match permission {
        Permission::Camera => &["android.permission.CAMERA"],
        Permission::Microphone => &["android.permission.RECORD_AUDIO"],
        Permission::Location => {
            &["android.permission.ACCESS_FINE_LOCATION", "android.permission.ACCESS_COARSE_LOCATION"]
        }
        Permission::Photos => &["android.permission.READ_MEDIA_IMAGES"],
        Permission::Contacts => &["android.permission.READ_CONTACTS"],
        Permission::Calendar => &["android.permission.READ_CALENDAR"],
        Permission::Notifications => &["android.permission.POST_NOTIFICATIONS"],
    }
}

/// The Apple service names of simctl and the XCUITest driver.
pub(super) fn apple_service(permission: Permission) -> &'static str {
    match permission {
        Permission::Camera => "camera",
        Permission::Microphone => "microphone",
        Permission::Location => "location",
        Permission::Photos => "photos",
        Permission::Contacts => "contacts",
        Permission::Calendar => "calendar",
        Permission::Notifications => "notifications",
    }
}

/// The Chromium permission names.
pub(super) fn browser_permission(permission: Permission) -> Option<&'static str> {
    match permission {
        Permission::Camera => Some("camera"),
        Permission::Microphone => Some("microphone"),
        Permission::Location => Some("geolocation"),
        Permission::Notifications => Some("notifications"),
        Permission::Photos | Permission::Contacts | Permission::Calendar => None,
    }
}
