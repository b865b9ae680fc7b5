//! Sessions and their settings.

use serde_json::{Map, Value, json};

use super::{Command, session};
use crate::phone::app::BUNDLE;
use crate::state::State;
use crate::webdriver::webdriver_error::{CommandResult, WebDriverError};

/// Routes that need no session.
pub(super) fn without_session(state: &mut State, request: &Command, path: &[&str]) -> Option<CommandResult> {
    if request.session.is_some() {
        return None;
    }
    Some(match (request.method.as_str(), path) {
        ("GET", ["status"]) => Ok(status()),
        ("GET", ["wda", "healthcheck"]) => Ok(Value::Null),
        ("GET", ["wda", "shutdown"]) => Ok(json!("Shutting down")),
        ("POST", ["session"]) => create(state, request),
        _ => return None,
    })
}

pub(super) fn answer(state: &mut State, request: &Command, path: &[&str]) -> Option<CommandResult> {
    Some(match (request.method.as_str(), path) {
        ("GET", []) => described(state),
        ("DELETE", []) => {
            close(state);
            Ok(Value::Null)
        }
        ("GET", ["appium", "settings"]) => session(state).map(|session| json!(session.settings)),
        ("POST", ["appium", "settings"]) => set(state, request),
        ("POST", ["timeouts"]) => Ok(Value::Null),
        _ => return None,
    })
}

fn status() -> Value {
    json!({
        "ready": true,
        "message": "WebDriverAgent is ready to accept commands",
        "state": "success",
        "os": {"name": "iOS", "version": "18.2", "sdkVersion": "18.2", "testmanagerdVersion": 65535},
        "ios": {"ip": "127.0.0.1"},
        "build": {
            "time": "Jan  1 2026 00:00:00",
            "version": "emulated",
            "productBundleIdentifier": "com.facebook.WebDriverAgentRunner",
        },
        "device": "iphone",
    })
}

fn create(state: &mut State, request: &Command) -> CommandResult {
    close(state);
    let refused = |message: &str| WebDriverError::new(500, "session not created", message);
    let asked = request.body.get("capabilities").and_then(Value::as_object);
    let asked = asked.ok_or_else(|| refused("'capabilities' is mandatory to create a new session"))?;
    let capabilities = merged(asked);
    let bundle = capabilities.get("bundleId").or_else(|| capabilities.get("appium:bundleId"));
    let bundle = bundle.and_then(Value::as_str).map(str::to_owned);
    if let Some(bundle) = &bundle {
        if bundle != BUNDLE {
            return Err(refused(&format!("The application '{bundle}' is not installed")));
        }
        let arguments = capabilities.get("arguments").and_then(Value::as_array);
        let arguments =
            arguments.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        // WebDriverAgent's default: the app restarts.
        state.device.app.terminate();
        state.device.app.launch(arguments);
    }
    state.open_session(bundle);
    described(state)
}

/// Merges `alwaysMatch` with the first entry of `firstMatch`.
fn merged(asked: &Map<String, Value>) -> Map<String, Value> {
    let always = asked.get("alwaysMatch").and_then(Value::as_object).cloned().unwrap_or_default();
    let first = asked.get("firstMatch").and_then(|all| all.get(0)).and_then(Value::as_object).cloned();
    always.into_iter().chain(first.unwrap_or_default()).collect()
}

fn described(state: &mut State) -> CommandResult {
    let (bundle, _, _) = state.device.front();
    let id = session(state)?.id.clone();
    Ok(json!({
        "sessionId": id,
        "capabilities": {
            "device": "iphone", "browserName": "Pantry", "sdkVersion": "18.2", "CFBundleIdentifier": bundle,
        },
    }))
}

fn close(state: &mut State) {
    if let Some(session) = state.session.take()
        && session.bundle.is_some()
    {
        state.device.app.terminate();
    }
}

fn set(state: &mut State, request: &Command) -> CommandResult {
    let settings = request.body.get("settings").and_then(Value::as_object);
    let settings =
        settings.ok_or_else(|| WebDriverError::invalid_argument("settings must be a dictionary"))?;
    let session = session(state)?;
    for (name, value) in settings.iter().take(100) {
        session.settings.insert(name.clone(), value.clone());
    }
    Ok(json!(session.settings))
}
