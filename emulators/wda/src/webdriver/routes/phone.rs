//! The phone itself, with or without a session: screen, source, buttons, orientation, location.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Command;
use crate::phone::device::{Appearance, Orientation, SCALE, STATUS_BAR};
use crate::phone::screenshot;
use crate::state::State;
use crate::webdriver::source;
use crate::webdriver::webdriver_error::{CommandResult, WebDriverError};

/// The largest content of the pasteboard, in bytes.
const LARGEST_PASTE: usize = 1 << 20;

pub(super) fn answer(
    state: &mut State,
    request: &Command,
    path: &[&str],
    extra: usize,
) -> Option<CommandResult> {
    let device = &mut state.device;
    let (width, height) = device.size();
    Some(match (request.method.as_str(), path) {
        ("GET", ["screenshot"]) => Ok(json!(STANDARD.encode(screenshot::picture(device, None, extra)))),
        ("GET", ["source"]) => written(state, request),
        ("GET", ["wda", "accessibleSource"]) => Ok(source::accessible(&device.screen())),
        ("GET", ["window", "rect"]) => Ok(json!({"x": 0, "y": 0, "width": width, "height": height})),
        ("GET", ["window", "size"]) => Ok(json!({"width": width, "height": height})),
        ("GET", ["wda", "screen"]) => Ok(json!({
            "statusBarSize": {"width": width, "height": STATUS_BAR},
            "screenSize": {"width": width, "height": height},
            "scale": SCALE,
        })),
        ("GET", ["orientation"]) => Ok(json!(named(device.orientation))),
        ("POST", ["orientation"]) => turn(state, request),
        ("GET", ["rotation"]) => Ok(
            json!({"x": 0, "y": 0, "z": if device.orientation == Orientation::Portrait { 0 } else { 270 }}),
        ),
        ("GET", ["wda", "activeAppInfo"]) => Ok(device.active_app()),
        ("GET", ["wda", "locked"]) => Ok(json!(device.is_locked)),
        ("POST", ["wda", "lock"]) => {
            device.is_locked = true;
            Ok(Value::Null)
        }
        ("POST", ["wda", "unlock"]) => {
            device.is_locked = false;
            Ok(Value::Null)
        }
        ("POST", ["wda", "homescreen"]) => {
            device.app.leave();
            Ok(Value::Null)
        }
        ("POST", ["wda", "pressButton"]) => press(state, request),
        ("GET", ["wda", "device", "info"]) => Ok(info(state)),
        ("POST", ["wda", "device", "appearance"]) => set_appearance(state, request),
        ("GET", ["wda", "batteryInfo"]) => Ok(json!({"level": 1.0, "state": 3})),
        ("GET", ["wda", "device", "location"]) => {
            let (latitude, longitude) = device.location.unwrap_or_default();
            Ok(json!({"authorizationStatus": 3, "latitude": latitude, "longitude": longitude, "altitude": 0}))
        }
        ("GET", ["wda", "simulatedLocation"]) => {
            let at = device.location;
            Ok(json!({"latitude": at.map(|at| at.0), "longitude": at.map(|at| at.1)}))
        }
        ("POST", ["wda", "simulatedLocation"]) => set_location(state, request),
        ("DELETE", ["wda", "simulatedLocation"]) => {
            device.location = None;
            Ok(Value::Null)
        }
        ("POST", ["wda", "setPasteboard"]) => paste(state, request),
        ("POST", ["wda", "getPasteboard"]) => Ok(json!(STANDARD.encode(&device.pasteboard))),
        _ => return None,
    })
}

fn written(state: &State, request: &Command) -> CommandResult {
    let screen = state.device.screen();
    match request.query_param("format").unwrap_or("xml") {
        "xml" => {
            let excluded: Vec<&str> =
                request.query_param("excluded_attributes").unwrap_or_default().split(',').collect();
            Ok(json!(source::xml(&screen, request.query_param("scope"), &excluded)))
        }
        "json" => Ok(source::json(&screen, 0)),
        other => Err(WebDriverError::invalid_argument(format!("Unknown source format '{other}'"))),
    }
}

fn named(orientation: Orientation) -> &'static str {
    match orientation {
        Orientation::Portrait => "PORTRAIT",
        Orientation::Landscape => "LANDSCAPE",
    }
}

fn turn(state: &mut State, request: &Command) -> CommandResult {
    state.device.orientation = match request.text("orientation")? {
        "PORTRAIT" => Orientation::Portrait,
        "LANDSCAPE" | "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT" => Orientation::Landscape,
        _ => return Err(WebDriverError::unknown("Unable To Rotate Device")),
    };
    // A list that was scrolled to its end in portrait may be scrolled too far now, or not far enough.
    let view = crate::phone::screen::list_view(state.device.size());
    state.device.app.scroll_by(0, view);
    Ok(Value::Null)
}

fn press(state: &mut State, request: &Command) -> CommandResult {
    let name = request.text("name")?;
    match name.to_lowercase().as_str() {
        "home" => state.device.app.leave(),
        "volumeup" | "volumedown" => {}
        _ => return Err(WebDriverError::unknown(format!("The button '{name}' is not supported"))),
    }
    Ok(Value::Null)
}

fn info(state: &State) -> Value {
    let style = match state.device.appearance {
        Appearance::Light => "light",
        Appearance::Dark => "dark",
    };
    json!({
        "currentLocale": "en_US",
        "timeZone": "UTC",
        "name": "Emulated iPhone",
        "model": "iPhone",
        "uuid": "00008120-000000000000001E",
        "userInterfaceIdiom": 0,
        "userInterfaceStyle": style,
        "isSimulator": false,
    })
}

fn set_appearance(state: &mut State, request: &Command) -> CommandResult {
    state.device.appearance = match request.text("name")?.to_lowercase().as_str() {
        "light" => Appearance::Light,
        "dark" => Appearance::Dark,
        other => return Err(WebDriverError::invalid_argument(format!("there is no appearance '{other}'"))),
    };
    Ok(Value::Null)
}

fn set_location(state: &mut State, request: &Command) -> CommandResult {
    let place = request.number("latitude").zip(request.number("longitude"));
    let place = place
        .ok_or_else(|| WebDriverError::invalid_argument("Both latitude and longitude must be provided"))?;
    state.device.location = Some(place);
    Ok(Value::Null)
}

fn paste(state: &mut State, request: &Command) -> CommandResult {
    let content = STANDARD.decode(request.text("content")?);
    let content = content.ok().filter(|content| content.len() <= LARGEST_PASTE);
    state.device.pasteboard = content.ok_or_else(|| {
        WebDriverError::invalid_argument("Cannot decode the pasteboard content from base64")
    })?;
    Ok(Value::Null)
}
