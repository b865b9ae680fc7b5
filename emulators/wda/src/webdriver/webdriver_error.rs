//! Errors of commands: the names and statuses of the `WebDriver` standard, as WebDriverAgent uses them.

use serde_json::{Value, json};

/// A refusal: its status, its name in the standard, and words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WebDriverError {
    pub(crate) status: u16,
    pub(crate) error: String,
    pub(crate) message: String,
}

pub(crate) type CommandResult = Result<Value, WebDriverError>;

impl WebDriverError {
    pub(crate) fn new(status: u16, error: &str, message: impl Into<String>) -> WebDriverError {
        WebDriverError { status, error: error.to_owned(), message: message.into() }
    }

    pub(crate) fn invalid_argument(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new(400, "invalid argument", message)
    }

    pub(crate) fn invalid_selector(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new(400, "invalid selector", message)
    }

    pub(crate) fn invalid_state(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new(400, "invalid element state", message)
    }

    pub(crate) fn no_such_element(using: &str, value: &str) -> WebDriverError {
        let message = format!("unable to find an element using '{using}', value '{value}'");
        WebDriverError::new(404, "no such element", message)
    }

    pub(crate) fn stale() -> WebDriverError {
        let message = "The previously found element is not present in the current view anymore";
        WebDriverError::new(404, "stale element reference", message)
    }

    pub(crate) fn no_alert() -> WebDriverError {
        WebDriverError::new(404, "no such alert", "there is no alert to act on")
    }

    pub(crate) fn alert_open(title: &str) -> WebDriverError {
        WebDriverError::new(500, "unexpected alert open", format!("an alert is in the way: {title}"))
    }

    pub(crate) fn no_session() -> WebDriverError {
        WebDriverError::new(404, "invalid session id", "Session does not exist")
    }

    pub(crate) fn unknown_command(what: &str) -> WebDriverError {
        WebDriverError::new(404, "unknown command", format!("Unhandled endpoint: {what}"))
    }

    pub(crate) fn unknown(message: impl Into<String>) -> WebDriverError {
        WebDriverError::new(500, "unknown error", message)
    }

    pub(crate) fn value(&self) -> Value {
        json!({"error": self.error, "message": self.message, "traceback": ""})
    }
}
