//! Replies of the `/_control/` routes, which tests use to steer an emulator over HTTP.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The reply to a control request.
#[derive(Debug)]
pub struct ControlReply {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body.
    pub body: Value,
}

/// Why a control request failed: an HTTP status and a sentence.
#[derive(Debug)]
pub struct ControlError(pub u16, pub String);

impl ControlError {
    /// The method does not fit the action.
    pub fn wrong_method() -> ControlError {
        ControlError(405, "use GET to look, POST to do, DELETE for fail and calls".to_owned())
    }

    /// There is no such action; `known` lists those there are.
    pub fn unknown_action(action: &str, known: &[&str]) -> ControlError {
        ControlError(404, format!("there is no action {action}; one of: {}", known.join(", ")))
    }
}

impl From<Result<Value, ControlError>> for ControlReply {
    fn from(result: Result<Value, ControlError>) -> ControlReply {
        match result {
            Ok(body) => ControlReply { status: 200, body },
            Err(ControlError(status, why)) => ControlReply { status, body: json!({"error": why}) },
        }
    }
}

/// Parses the JSON body of a control request.
pub fn parse_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, ControlError> {
    serde_json::from_slice(body).map_err(|why| ControlError(422, why.to_string()))
}
