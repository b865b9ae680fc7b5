//! What platforms call things, and do in their own way.

use serde_json::{Map, Value};

use super::Permission;
use super::chrome::no_such_choice;
use crate::w3c::{Client, ElementId, Refusal, Trouble};

/// Chooses a value of a picker. Apple's wheels are turned by their driver, either way, until they show it; one that does not
/// have it is refused, and no waiting helps.
pub(super) async fn pick(client: &Client, element: &ElementId, value: &str) -> Result<(), Trouble> {
    let is_wheel = client.tag(element).await? == "XCUIElementTypePickerWheel";
    match client.enter(element, value).await {
        Err(trouble)
            if is_wheel && (trouble.is(Refusal::NotInteractable) || trouble.is(Refusal::Unknown)) =>
        {
            Err(no_such_choice())
        }
        done => done,
    }
}

/// What a caller may know of the capabilities a driver answered with. Some hold paths and addresses of its machine.
const TOLD: [&str; 12] = [
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

/// The harmless part of what a driver said about a device.
pub(crate) fn described(capabilities: &Map<String, Value>) -> Value {
    let told = capabilities.iter().filter_map(|(name, value)| {
        let short = name.rsplit(':').next().unwrap_or(name);
        let is_plain = value.is_string() || value.is_number() || value.is_boolean();
        (TOLD.contains(&short) && is_plain).then(|| (short.to_owned(), value.clone()))
    });
    Value::Object(told.collect())
}

/// Android's names.
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

/// Apple's names, as simctl and the XCUITest driver spell them.
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

/// Chromium's names.
pub(super) fn browser_permission(permission: Permission) -> Option<&'static str> {
    match permission {
        Permission::Camera => Some("camera"),
        Permission::Microphone => Some("microphone"),
        Permission::Location => Some("geolocation"),
        Permission::Notifications => Some("notifications"),
        Permission::Photos | Permission::Contacts | Permission::Calendar => None,
    }
}
