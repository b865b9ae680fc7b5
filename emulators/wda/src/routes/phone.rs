//! The phone itself, with or without a session: screen, source, buttons, orientation, location.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::Request;
use crate::device::{Appearance, Orientation, SCALE, STATUS_BAR};
use crate::draw;
use crate::refusal::{Outcome, Refusal};
use crate::source;
use crate::state::State;

/// The largest content of the pasteboard, in bytes.
const LARGEST_PASTE: usize = 1 << 20;

pub(super) fn answer(state: &mut State, request: &Request, path: &[&str], extra: usize) -> Option<Outcome> {
    let device = &mut state.device;
    let (width, height) = device.size();
    Some(match (request.method.as_str(), path) {
        ("GET", ["screenshot"]) => Ok(json!(STANDARD.encode(draw::picture(device, None, extra)))),
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
        ("POST", ["wda", "device", "appearance"]) => dress(state, request),
        ("GET", ["wda", "batteryInfo"]) => Ok(json!({"level": 1.0, "state": 3})),
        ("GET", ["wda", "device", "location"]) => {
            let (latitude, longitude) = device.location.unwrap_or_default();
            Ok(json!({"authorizationStatus": 3, "latitude": latitude, "longitude": longitude, "altitude": 0}))
        }
        ("GET", ["wda", "simulatedLocation"]) => {
            let at = device.location;
            Ok(json!({"latitude": at.map(|at| at.0), "longitude": at.map(|at| at.1)}))
        }
        ("POST", ["wda", "simulatedLocation"]) => go(state, request),
        ("DELETE", ["wda", "simulatedLocation"]) => {
            device.location = None;
            Ok(Value::Null)
        }
        ("POST", ["wda", "setPasteboard"]) => paste(state, request),
        ("POST", ["wda", "getPasteboard"]) => Ok(json!(STANDARD.encode(&device.pasteboard))),
        _ => return None,
    })
}

fn written(state: &State, request: &Request) -> Outcome {
    let screen = state.device.screen();
    match request.asked("format").unwrap_or("xml") {
        "xml" => {
            let excluded: Vec<&str> =
                request.asked("excluded_attributes").unwrap_or_default().split(',').collect();
            Ok(json!(source::xml(&screen, request.asked("scope"), &excluded)))
        }
        "json" => Ok(source::json(&screen, 0)),
        other => Err(Refusal::invalid_argument(format!("Unknown source format '{other}'"))),
    }
}

fn named(orientation: Orientation) -> &'static str {
    match orientation {
        Orientation::Portrait => "PORTRAIT",
        Orientation::Landscape => "LANDSCAPE",
    }
}

fn turn(state: &mut State, request: &Request) -> Outcome {
    state.device.orientation = match request.text("orientation")? {
        "PORTRAIT" => Orientation::Portrait,
        "LANDSCAPE" | "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT" => Orientation::Landscape,
        _ => return Err(Refusal::unknown("Unable To Rotate Device")),
    };
    // What was scrolled to the end upright may be too far now, or not far enough.
    let view = crate::screen::list_view(state.device.size());
    state.device.app.scroll_by(0, view);
    Ok(Value::Null)
}

fn press(state: &mut State, request: &Request) -> Outcome {
    let name = request.text("name")?;
    match name.to_lowercase().as_str() {
        "home" => state.device.app.leave(),
        "volumeup" | "volumedown" => {}
        _ => return Err(Refusal::unknown(format!("The button '{name}' is not supported"))),
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

fn dress(state: &mut State, request: &Request) -> Outcome {
    state.device.appearance = match request.text("name")?.to_lowercase().as_str() {
        "light" => Appearance::Light,
        "dark" => Appearance::Dark,
        other => return Err(Refusal::invalid_argument(format!("there is no appearance '{other}'"))),
    };
    Ok(Value::Null)
}

fn go(state: &mut State, request: &Request) -> Outcome {
    let place = request.number("latitude").zip(request.number("longitude"));
    let place =
        place.ok_or_else(|| Refusal::invalid_argument("Both latitude and longitude must be provided"))?;
    state.device.location = Some(place);
    Ok(Value::Null)
}

fn paste(state: &mut State, request: &Request) -> Outcome {
    let content = STANDARD.decode(request.text("content")?);
    let content = content.ok().filter(|content| content.len() <= LARGEST_PASTE);
    state.device.pasteboard = content
        .ok_or_else(|| Refusal::invalid_argument("Cannot decode the pasteboard content from base64"))?;
    Ok(Value::Null)
}
