//! Alerts.

use serde_json::{Value, json};

use super::Command;
use crate::phone::app::Alert;
use crate::state::State;
use crate::webdriver::webdriver_error::{CommandResult, WebDriverError};

pub(super) fn answer(state: &mut State, request: &Command, path: &[&str]) -> Option<CommandResult> {
    Some(match (request.method.as_str(), path) {
        ("GET", ["alert", "text"]) => alert(state).map(|alert| json!(words(alert))),
        ("GET", ["wda", "alert", "buttons"]) => alert(state).map(|alert| json!(alert.buttons)),
        ("POST", ["alert", "accept"]) => {
            decide(state, request, |alert| alert.buttons.len().saturating_sub(1))
        }
        ("POST", ["alert", "dismiss"]) => decide(state, request, |_| 0),
        ("POST", ["alert", "text"]) => alert(state).and_then(|_| {
            Err(WebDriverError::new(
                500,
                "unsupported operation",
                "The alert has no input field to type into",
            ))
        }),
        _ => return None,
    })
}

fn alert(state: &State) -> Result<&Alert, WebDriverError> {
    state.device.app.alert.as_ref().ok_or_else(WebDriverError::no_alert)
}

fn words(alert: &Alert) -> String {
    if alert.message.is_empty() { alert.title.clone() } else { format!("{}\n{}", alert.title, alert.message) }
}

fn decide(state: &mut State, request: &Command, usual: impl Fn(&Alert) -> usize) -> CommandResult {
    let alert = alert(state)?;
    let index = match request.body.get("name").and_then(Value::as_str) {
        None => usual(alert),
        Some(name) => alert.buttons.iter().position(|button| button == name).ok_or_else(|| {
            WebDriverError::invalid_state(format!("Failed to find button with label '{name}' for alert"))
        })?,
    };
    state.device.app.answer(index);
    Ok(Value::Null)
}
