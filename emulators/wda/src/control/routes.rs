//! `/_control/`: what no client of a runner can do.

use http::Method;
use serde_json::{Value, json};

use super::Control;
use crate::fault::Fault;

/// What can be asked for.
const KNOWN: &str = "reset, fail, calls, dump";

/// Status and body of the answer.
pub(crate) fn answer(control: &Control, method: &Method, what: &str, body: &[u8]) -> (u16, Value) {
    match (method.as_str(), what) {
        ("GET", "calls") => (200, json!({"calls": control.calls()})),
        ("GET", "dump") => (200, control.dump()),
        ("POST", "reset") => done(|| control.reset()),
        ("POST", "fail") => match serde_json::from_slice::<Fault>(body) {
            Ok(fault) => done(|| control.fail(fault)),
            Err(why) => (422, json!({"error": why.to_string()})),
        },
        ("DELETE", "fail") => done(|| control.clear_faults()),
        ("DELETE", "calls") => done(|| control.clear_calls()),
        (_, "calls" | "dump" | "reset" | "fail") => {
            (405, json!({"error": "use GET to look, POST to do, DELETE for fail and calls"}))
        }
        _ => (404, json!({"error": format!("there is nothing called {what} to control; one of: {KNOWN}")})),
    }
}

fn done(act: impl FnOnce()) -> (u16, Value) {
    act();
    (200, json!({"ok": true}))
}
