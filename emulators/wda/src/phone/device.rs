//! The phone around the app.

use serde_json::{Value, json};

use super::app::{App, AppLife, BUNDLE};
use super::screen::Screen;

/// The home screen's name among apps.
pub(crate) const HOME: &str = "com.apple.springboard";
/// Pixels per point.
pub(crate) const SCALE: u32 = 2;
/// The screen in points, held upright.
pub(crate) const PORTRAIT: (i32, i32) = (375, 667);
/// How high the bar at the top is, in points.
pub(crate) const STATUS_BAR: i32 = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Orientation {
    Portrait,
    Landscape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appearance {
    Light,
    Dark,
}

pub(crate) struct Device {
    pub(crate) app: App,
    pub(crate) orientation: Orientation,
    pub(crate) appearance: Appearance,
    pub(crate) is_locked: bool,
    pub(crate) location: Option<(f64, f64)>,
    pub(crate) pasteboard: Vec<u8>,
}

impl Device {
    pub(crate) fn new() -> Device {
        Device {
            app: App::new(),
            orientation: Orientation::Portrait,
            appearance: Appearance::Light,
            is_locked: false,
            location: None,
            pasteboard: vec![],
        }
    }

    pub(crate) fn size(&self) -> (i32, i32) {
        match self.orientation {
            Orientation::Portrait => PORTRAIT,
            Orientation::Landscape => (PORTRAIT.1, PORTRAIT.0),
        }
    }

    /// The current screen.
    pub(crate) fn screen(&self) -> Screen {
        Screen::new(self)
    }

    /// Which app is in front, and its number as a process.
    pub(crate) fn front(&self) -> (&'static str, &'static str, u32) {
        if self.app.life == AppLife::Foreground {
            (BUNDLE, "Pantry", 4242)
        } else {
            (HOME, "SpringBoard", 58)
        }
    }

    pub(crate) fn active_app(&self) -> Value {
        let (bundle, name, pid) = self.front();
        let arguments = if bundle == BUNDLE { self.app.arguments.clone() } else { vec![] };
        json!({"bundleId": bundle, "name": name, "pid": pid, "processArguments": {"args": arguments, "env": {}}})
    }

    /// The state of an app as `XCTest` counts it: 0 unknown, 1 not running, 3 in the background, 4 in front.
    pub(crate) fn app_state(&self, bundle: &str) -> u8 {
        match (bundle, self.app.life) {
            (BUNDLE, AppLife::NotRunning) => 1,
            (BUNDLE, AppLife::Background) => 3,
            (BUNDLE, AppLife::Foreground) => 4,
            (HOME, AppLife::Foreground) => 3,
            (HOME, _) => 4,
            _ => 0,
        }
    }
}
