//! The control handle over HTTP, under `/_control/`.

use failwell_emulator_http::{ControlError, ControlReply, parse_body};
use http::Method;
use serde_json::{Value, json};

use super::Control;

/// The actions.
const KNOWN: &str = "reset, fail, calls, dump";

pub(crate) fn answer(control: &Control, method: &Method, action: &str, body: &[u8]) -> ControlReply {
    perform(control, method, action, body).into()
}

fn perform(control: &Control, method: &Method, action: &str, body: &[u8]) -> Result<Value, ControlError> {
    match (method.as_str(), action) {
        ("GET", "calls") => return Ok(json!({"calls": control.calls()})),
        ("GET", "dump") => return Ok(control.dump()),
        ("POST", "reset") => control.reset(),
        ("POST", "fail") => control.fail(parse_body(body)?),
        ("DELETE", "fail") => control.clear_faults(),
        ("DELETE", "calls") => control.clear_calls(),
        (_, "calls" | "dump" | "reset" | "fail") => return Err(ControlError::wrong_method()),
        _ => return Err(ControlError::unknown_action(action, KNOWN)),
    }
    Ok(json!({"ok": true}))
}
