//! The operations of a device. Each back end implements them for its driver.
//!
//! The default methods implement the W3C commands. A back end overrides those that differ. An impossible
//! operation returns [`DriverError::Unsupported`].

mod appium;
mod apps;
mod chrome;
mod simctl;
mod web_driver_agent;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use appium::Appium;
pub(crate) use chrome::{Chrome, usual_capabilities as chrome_capabilities};
pub(crate) use simctl::Simctl;
pub(crate) use web_driver_agent::WebDriverAgent;

use crate::screen::Screen;
use crate::w3c::{DriverError, ElementId, Gesture, Locator, LogEntry, Rect, Strategy, WebDriverClient};

pub(crate) type DeviceFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, DriverError>> + Send + 'a>>;

/// The default implementation: a command of the W3C session, if there is one.
macro_rules! wired {
    ($self:ident, $what:literal, $client:ident => $work:expr) => {{
        let client = $self.client().ok_or(DriverError::Unsupported($what));
        Box::pin(async move {
            let $client = client?;
            $work
        })
    }};
}

/// An app under test, by the name its platform has for it: a bundle id, a package, an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AppState {
    NotInstalled,
    NotRunning,
    Background,
    Foreground,
    Unknown,
}

impl AppState {
    /// The state numbers of Appium and `WebDriverAgent`.
    pub(crate) fn of_number(number: u64) -> AppState {
        match number {
            0 => AppState::NotInstalled,
            1 => AppState::NotRunning,
            2 | 3 => AppState::Background,
            4 => AppState::Foreground,
            _ => AppState::Unknown,
        }
    }
}

/// Which way up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Orientation {
    Portrait,
    Landscape,
}

impl Orientation {
    /// The spelling of drivers.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Orientation::Portrait => "PORTRAIT",
            Orientation::Landscape => "LANDSCAPE",
        }
    }

    /// Parses the spelling of a driver.
    pub(crate) fn parse(text: &str) -> Orientation {
        if text.to_ascii_uppercase().contains("LANDSCAPE") {
            Orientation::Landscape
        } else {
            Orientation::Portrait
        }
    }
}

/// A geographic location.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Location {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) altitude: f64,
}

/// A service that needs a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Permission {
    Camera,
    Microphone,
    Location,
    Photos,
    Contacts,
    Calendar,
    Notifications,
}

/// The new state of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Leave")]
pub(crate) enum PermissionChange {
    Grant,
    Revoke,
    /// As if the app had never asked.
    Reset,
}

/// The answer to an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AlertAnswer {
    Accept,
    Dismiss,
}

/// One device in one session.
pub(crate) trait Device: Send + Sync {
    /// The name of its driver.
    fn driver(&self) -> &'static str;

    /// The W3C session, if there is one.
    fn client(&self) -> Option<&WebDriverClient>;

    /// The capabilities that the driver reported.
    fn capabilities(&self) -> Value;

    /// Reads the whole screen.
    fn look(&self) -> DeviceFuture<'_, Screen>;

    fn find<'a>(&'a self, locator: &'a Locator) -> DeviceFuture<'a, ElementId> {
        wired!(self, "finding elements", client => client.find(standard(locator)?, &locator.value).await)
    }

    /// The element with the keyboard focus.
    fn focused(&self) -> DeviceFuture<'_, ElementId> {
        wired!(self, "the focused element", client => client.active_element().await)
    }

    /// The native context and the web views of an app, or the windows of a browser. The current one is first.
    fn contexts(&self) -> DeviceFuture<'_, Vec<String>> {
        wired!(self, "contexts", client => {
            let (mut all, used) = (client.contexts().await?, client.context().await?);
            all.sort_by_key(|name| Some(name) != used.as_ref());
            Ok(all)
        })
    }

    fn switch_context<'a>(&'a self, name: &'a str) -> DeviceFuture<'a, ()> {
        wired!(self, "contexts", client => client.switch_context(name).await)
    }

    fn screenshot(&self) -> DeviceFuture<'_, Bytes> {
        wired!(self, "screenshots", client => client.screenshot().await)
    }

    fn element_screenshot<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, Bytes> {
        wired!(self, "screenshots of elements", client => client.element_screenshot(element).await)
    }

    /// The visible area, in the units of gestures.
    fn viewport(&self) -> DeviceFuture<'_, Rect> {
        wired!(self, "the size of the screen", client => {
            let rect = client.window_rect().await?;
            Ok(Rect { x: 0.0, y: 0.0, ..rect })
        })
    }

    fn text<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, String> {
        wired!(self, "texts of elements", client => client.text(element).await)
    }

    fn attribute<'a>(&'a self, element: &'a ElementId, name: &'a str) -> DeviceFuture<'a, Value> {
        wired!(self, "attributes of elements", client => client.attribute(element, name).await)
    }

    /// Whether a field hides its text, as those of passwords do. A field that cannot be asked counts as one.
    fn hides_text<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, bool> {
        Box::pin(async move {
            if let Ok(Value::String(kind)) = self.attribute(element, "type").await {
                let kind = kind.to_ascii_lowercase();
                return Ok(kind.contains("secure") || kind == "password");
            }
            let hidden = self.attribute(element, "password").await;
            Ok(!matches!(hidden, Ok(Value::Bool(false) | Value::Null))
                && hidden.ok() != Some(Value::from("false")))
        })
    }

    fn rect<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, Rect> {
        wired!(self, "places of elements", client => client.rect(element).await)
    }

    fn is_displayed<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, bool> {
        wired!(self, "whether elements are visible", client => client.is_displayed(element).await)
    }

    fn is_enabled<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, bool> {
        wired!(self, "whether elements are enabled", client => client.is_enabled(element).await)
    }

    fn is_selected<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, bool> {
        wired!(self, "whether elements are selected", client => client.is_selected(element).await)
    }

    fn click<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, ()> {
        wired!(self, "tapping elements", client => client.click(element).await)
    }

    fn perform(&self, gesture: Gesture) -> DeviceFuture<'_, ()> {
        wired!(self, "gestures", client => {
            client.perform(gesture).await?;
            // The gesture is complete and has lifted its finger. This command only resets the driver's input
            // state. The driver may refuse it, for example if a tap has opened an alert.
            let _ = client.release().await;
            Ok(())
        })
    }

    fn enter<'a>(&'a self, element: &'a ElementId, text: &'a str) -> DeviceFuture<'a, ()> {
        wired!(self, "entering text", client => client.enter(element, text).await)
    }

    fn clear<'a>(&'a self, element: &'a ElementId) -> DeviceFuture<'a, ()> {
        wired!(self, "clearing text", client => client.clear(element).await)
    }

    /// Selects a value of a picker.
    fn pick<'a>(&'a self, element: &'a ElementId, value: &'a str) -> DeviceFuture<'a, ()> {
        wired!(self, "pickers", client => client.enter(element, value).await)
    }

    fn back(&self) -> DeviceFuture<'_, ()> {
        wired!(self, "going back", client => client.back().await)
    }

    fn alert_text(&self) -> DeviceFuture<'_, String> {
        wired!(self, "alerts", client => client.alert_text().await)
    }

    fn enter_in_alert<'a>(&'a self, text: &'a str) -> DeviceFuture<'a, ()> {
        wired!(self, "alerts", client => client.enter_in_alert(text).await)
    }

    fn answer_alert(&self, answer: AlertAnswer) -> DeviceFuture<'_, ()> {
        wired!(self, "alerts", client => match answer {
            AlertAnswer::Accept => client.accept_alert().await,
            AlertAnswer::Dismiss => client.dismiss_alert().await,
        })
    }

    fn orientation(&self) -> DeviceFuture<'_, Orientation> {
        wired!(self, "orientation", client => Ok(Orientation::parse(&client.orientation().await?)))
    }

    fn turn(&self, orientation: Orientation) -> DeviceFuture<'_, ()> {
        wired!(self, "orientation", client => client.set_orientation(orientation.as_str()).await)
    }

    fn locate(&self, at: Location) -> DeviceFuture<'_, ()> {
        wired!(self, "location", client => {
            let place = serde_json::json!({"latitude": at.latitude, "longitude": at.longitude, "altitude": at.altitude});
            client.set_location(place).await
        })
    }

    fn permit<'a>(
        &'a self,
        _app: &'a str,
        _permission: Permission,
        _grant: PermissionChange,
    ) -> DeviceFuture<'a, ()> {
        unsupported("permissions")
    }

    fn install<'a>(&'a self, _path: &'a str) -> DeviceFuture<'a, ()> {
        unsupported("installing apps")
    }

    fn launch<'a>(&'a self, _app: &'a str) -> DeviceFuture<'a, ()> {
        unsupported("launching apps")
    }

    fn terminate<'a>(&'a self, _app: &'a str) -> DeviceFuture<'a, ()> {
        unsupported("terminating apps")
    }

    /// Deletes the stored data of the app.
    fn reset<'a>(&'a self, _app: &'a str) -> DeviceFuture<'a, ()> {
        unsupported("resetting apps")
    }

    fn app_state<'a>(&'a self, _app: &'a str) -> DeviceFuture<'a, AppState> {
        unsupported("the state of apps")
    }

    fn open<'a>(&'a self, url: &'a str) -> DeviceFuture<'a, ()> {
        wired!(self, "opening addresses", client => client.go(url).await)
    }

    fn logs<'a>(&'a self, _kind: Option<&'a str>) -> DeviceFuture<'a, Vec<LogEntry>> {
        unsupported("logs")
    }

    /// Ends the session at the driver.
    fn end(&self) -> DeviceFuture<'_, ()> {
        match self.client() {
            Some(client) => Box::pin(async move { client.end().await }),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }
}

/// The result of a back end that does not support an operation.
pub(crate) fn unsupported<'a, T: Send + 'a>(what: &'static str) -> DeviceFuture<'a, T> {
    Box::pin(std::future::ready(Err(DriverError::Unsupported(what))))
}

/// The default duration of a swipe or a press.
pub(crate) const GESTURE: Duration = Duration::from_millis(400);

/// The W3C strategies. Drivers of phones have a few more.
fn standard(locator: &Locator) -> Result<&'static str, DriverError> {
    Ok(match locator.strategy {
        Strategy::Auto if locator.is_path() => "xpath",
        Strategy::Auto | Strategy::AccessibilityId => "accessibility id",
        Strategy::Id => "id",
        Strategy::Xpath => "xpath",
        Strategy::ClassName => "class name",
        Strategy::Css => "css selector",
        Strategy::Predicate => "-ios predicate string",
        Strategy::ClassChain => "-ios class chain",
        Strategy::Uiautomator => "-android uiautomator",
        Strategy::Text => return Err(DriverError::Unsupported("finding by text")),
    })
}
