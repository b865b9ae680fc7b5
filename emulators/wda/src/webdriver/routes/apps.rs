//! Apps: started, brought to the front, ended.

use serde_json::{Value, json};

use super::Command;
use crate::phone::app::BUNDLE;
use crate::phone::device::HOME;
use crate::state::State;
use crate::webdriver::webdriver_error::{CommandResult, WebDriverError};

pub(super) fn answer(state: &mut State, request: &Command, path: &[&str]) -> Option<CommandResult> {
    Some(match (request.method.as_str(), path) {
        ("POST", ["wda", "apps", "launch"]) => launch(state, request),
        ("POST", ["wda", "apps", "activate"]) => launch(state, request),
        ("POST", ["wda", "apps", "terminate"]) => {
            request.text("bundleId").map(|bundle| json!(bundle == BUNDLE && state.device.app.terminate()))
        }
        ("POST", ["wda", "apps", "state"]) => {
            request.text("bundleId").map(|bundle| json!(state.device.app_state(bundle)))
        }
        ("GET", ["wda", "apps", "list"]) => {
            let (bundle, _, pid) = state.device.front();
            Ok(json!([{"pid": pid, "bundleId": bundle}]))
        }
        ("POST", ["url"]) => request.text("url").and_then(|url| {
            if state.device.app.follow(url) {
                Ok(Value::Null)
            } else {
                Err(WebDriverError::unknown(format!("The system cannot open the link '{url}'")))
            }
        }),
        ("POST", ["wda", "deactivateApp"]) => {
            // Away and back again; how long it was away does not show.
            state.device.app.leave();
            state.device.app.launch(vec![]);
            Ok(Value::Null)
        }
        ("POST", ["wda", "resetAppAuth"]) => {
            state.device.app.notifications = false;
            Ok(Value::Null)
        }
        _ => return None,
    })
}

fn launch(state: &mut State, request: &Command) -> CommandResult {
    let bundle = request.text("bundleId")?;
    let arguments = request.body.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let arguments = arguments.filter_map(Value::as_str).map(str::to_owned).collect();
    match bundle {
        BUNDLE => state.device.app.launch(arguments),
        HOME => state.device.app.leave(),
        other => {
            return Err(WebDriverError::invalid_argument(format!(
                "The application '{other}' is not installed"
            )));
        }
    }
    Ok(Value::Null)
}
