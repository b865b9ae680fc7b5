//! What a device can do, whatever drives it.
//!
//! The defaults are what every W3C driver does. A back end says where it differs, and what it cannot do is
//! [`Trouble::Unsupported`], never silence.

mod agent;
mod appium;
mod apps;
mod chrome;
mod simctl;

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use agent::Agent;
pub(crate) use appium::Appium;
pub(crate) use chrome::{Chrome, usual_capabilities as chrome_capabilities};
pub(crate) use simctl::Simctl;

use crate::screen::Screen;
use crate::w3c::{Client, ElementId, Gesture, Locator, LogEntry, Rect, Strategy, Trouble};

/// What a back end is busy with.
pub(crate) type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send + 'a>>;

/// The default way: over the W3C session, if there is one.
macro_rules! wired {
    ($self:ident, $what:literal, $wire:ident => $work:expr) => {{
        let wire = $self.wire().ok_or(Trouble::Unsupported($what));
        Box::pin(async move {
            let $wire = wire?;
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
    /// The numbers Appium and `WebDriverAgent` use.
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
    /// As drivers spell it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Orientation::Portrait => "PORTRAIT",
            Orientation::Landscape => "LANDSCAPE",
        }
    }

    /// Reads a driver's spelling.
    pub(crate) fn of(text: &str) -> Orientation {
        if text.to_ascii_uppercase().contains("LANDSCAPE") {
            Orientation::Landscape
        } else {
            Orientation::Portrait
        }
    }
}

/// A place on earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Location {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
    pub(crate) altitude: f64,
}

/// What an app may use.
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

/// What becomes of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Leave {
    Grant,
    Revoke,
    /// As if the app had never asked.
    Reset,
}

/// What is answered to an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AlertAnswer {
    Accept,
    Dismiss,
}

/// One device in one session.
pub(crate) trait Device: Send + Sync {
    /// What drives it.
    fn driver(&self) -> &'static str;

    /// Its W3C session, if it has one.
    fn wire(&self) -> Option<&Client>;

    /// What the driver said about it.
    fn described(&self) -> Value;

    /// Everything on the screen.
    fn look(&self) -> Doing<'_, Screen>;

    fn find<'a>(&'a self, locator: &'a Locator) -> Doing<'a, ElementId> {
        wired!(self, "finding elements", wire => wire.find(standard(locator)?, &locator.value).await)
    }

    /// The element that keys go to.
    fn focused(&self) -> Doing<'_, ElementId> {
        wired!(self, "the focused element", wire => wire.active_element().await)
    }

    /// The native part of an app and its web views, or the windows of a browser; the one in use first.
    fn contexts(&self) -> Doing<'_, Vec<String>> {
        wired!(self, "contexts", wire => {
            let (mut all, used) = (wire.contexts().await?, wire.context().await?);
            all.sort_by_key(|name| Some(name) != used.as_ref());
            Ok(all)
        })
    }

    fn switch_context<'a>(&'a self, name: &'a str) -> Doing<'a, ()> {
        wired!(self, "contexts", wire => wire.switch_context(name).await)
    }

    fn screenshot(&self) -> Doing<'_, Bytes> {
        wired!(self, "screenshots", wire => wire.screenshot().await)
    }

    fn element_screenshot<'a>(&'a self, element: &'a ElementId) -> Doing<'a, Bytes> {
        wired!(self, "screenshots of elements", wire => wire.element_screenshot(element).await)
    }

    /// The visible part, in the units gestures use.
    fn viewport(&self) -> Doing<'_, Rect> {
        wired!(self, "the size of the screen", wire => {
            let rect = wire.window_rect().await?;
            Ok(Rect { x: 0.0, y: 0.0, ..rect })
        })
    }

    fn text<'a>(&'a self, element: &'a ElementId) -> Doing<'a, String> {
        wired!(self, "texts of elements", wire => wire.text(element).await)
    }

    fn attribute<'a>(&'a self, element: &'a ElementId, name: &'a str) -> Doing<'a, Value> {
        wired!(self, "attributes of elements", wire => wire.attribute(element, name).await)
    }

    fn rect<'a>(&'a self, element: &'a ElementId) -> Doing<'a, Rect> {
        wired!(self, "places of elements", wire => wire.rect(element).await)
    }

    fn is_displayed<'a>(&'a self, element: &'a ElementId) -> Doing<'a, bool> {
        wired!(self, "whether elements are visible", wire => wire.is_displayed(element).await)
    }

    fn is_enabled<'a>(&'a self, element: &'a ElementId) -> Doing<'a, bool> {
        wired!(self, "whether elements are enabled", wire => wire.is_enabled(element).await)
    }

    fn is_selected<'a>(&'a self, element: &'a ElementId) -> Doing<'a, bool> {
        wired!(self, "whether elements are selected", wire => wire.is_selected(element).await)
    }

    fn click<'a>(&'a self, element: &'a ElementId) -> Doing<'a, ()> {
        wired!(self, "tapping elements", wire => wire.click(element).await)
    }

    fn perform(&self, gesture: Gesture) -> Doing<'_, ()> {
        wired!(self, "gestures", wire => {
            wire.perform(gesture).await?;
            // Every gesture lifts its finger itself, and has been made. This only clears what the driver remembers of it,
            // which it may refuse: a tap may have opened an alert.
            let _ = wire.release().await;
            Ok(())
        })
    }

    fn enter<'a>(&'a self, element: &'a ElementId, text: &'a str) -> Doing<'a, ()> {
        wired!(self, "entering text", wire => wire.enter(element, text).await)
    }

    fn clear<'a>(&'a self, element: &'a ElementId) -> Doing<'a, ()> {
        wired!(self, "clearing text", wire => wire.clear(element).await)
    }

    /// Chooses a value of a picker.
    fn pick<'a>(&'a self, element: &'a ElementId, value: &'a str) -> Doing<'a, ()> {
        wired!(self, "pickers", wire => wire.enter(element, value).await)
    }

    fn back(&self) -> Doing<'_, ()> {
        wired!(self, "going back", wire => wire.back().await)
    }

    fn alert_text(&self) -> Doing<'_, String> {
        wired!(self, "alerts", wire => wire.alert_text().await)
    }

    fn enter_in_alert<'a>(&'a self, text: &'a str) -> Doing<'a, ()> {
        wired!(self, "alerts", wire => wire.enter_in_alert(text).await)
    }

    fn answer_alert(&self, answer: AlertAnswer) -> Doing<'_, ()> {
        wired!(self, "alerts", wire => match answer {
            AlertAnswer::Accept => wire.accept_alert().await,
            AlertAnswer::Dismiss => wire.dismiss_alert().await,
        })
    }

    fn orientation(&self) -> Doing<'_, Orientation> {
        wired!(self, "orientation", wire => Ok(Orientation::of(&wire.orientation().await?)))
    }

    fn turn(&self, orientation: Orientation) -> Doing<'_, ()> {
        wired!(self, "orientation", wire => wire.set_orientation(orientation.as_str()).await)
    }

    fn locate(&self, at: Location) -> Doing<'_, ()> {
        wired!(self, "location", wire => {
            let place = serde_json::json!({"latitude": at.latitude, "longitude": at.longitude, "altitude": at.altitude});
            wire.set_location(place).await
        })
    }

    fn permit<'a>(&'a self, _app: &'a str, _permission: Permission, _grant: Leave) -> Doing<'a, ()> {
        cannot("permissions")
    }

    fn install<'a>(&'a self, _path: &'a str) -> Doing<'a, ()> {
        cannot("installing apps")
    }

    fn launch<'a>(&'a self, _app: &'a str) -> Doing<'a, ()> {
        cannot("launching apps")
    }

    fn terminate<'a>(&'a self, _app: &'a str) -> Doing<'a, ()> {
        cannot("terminating apps")
    }

    /// Takes away what the app has kept.
    fn reset<'a>(&'a self, _app: &'a str) -> Doing<'a, ()> {
        cannot("resetting apps")
    }

    fn app_state<'a>(&'a self, _app: &'a str) -> Doing<'a, AppState> {
        cannot("the state of apps")
    }

    fn open<'a>(&'a self, url: &'a str) -> Doing<'a, ()> {
        wired!(self, "opening addresses", wire => wire.go(url).await)
    }

    fn logs<'a>(&'a self, _kind: Option<&'a str>) -> Doing<'a, Vec<LogEntry>> {
        cannot("logs")
    }

    /// Ends the session at the driver.
    fn end(&self) -> Doing<'_, ()> {
        match self.wire() {
            Some(wire) => Box::pin(async move { wire.end().await }),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }
}

/// The answer of a back end that has no way to do it.
pub(crate) fn cannot<'a, T: Send + 'a>(what: &'static str) -> Doing<'a, T> {
    Box::pin(std::future::ready(Err(Trouble::Unsupported(what))))
}

/// How long a swipe or a press lasts unless somebody says.
pub(crate) const GESTURE: Duration = Duration::from_millis(400);

/// What W3C itself has; drivers of phones know a few more.
fn standard(locator: &Locator) -> Result<&'static str, Trouble> {
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
        Strategy::Text => return Err(Trouble::Unsupported("finding by text")),
    })
}
