//! Errors of a command: the W3C error codes, and failures without a response.

use std::io;
use std::time::Duration;

use failwell_fault::{Echo, Effect, Fault};

use super::client::Access;
use crate::reason;

/// The W3C errors (<https://www.w3.org/TR/webdriver2/#errors>) that the callers distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WebDriverErrorCode {
    NoSuchElement,
    StaleElement,
    NotInteractable,
    AlertOpen,
    NoAlert,
    Timeout,
    SessionGone,
    NotCreated,
    Unsupported,
    InvalidSelector,
    InvalidArgument,
    OutOfBounds,
    StepPlan,
    WindowGone,
    Unknown,
}

impl WebDriverErrorCode {
    /// Parses an error code. Older drivers have some of their own.
    pub(crate) fn from_code(code: &str) -> WebDriverErrorCode {
        match code {
            "no such element" | "no such shadow root" => WebDriverErrorCode::NoSuchElement,
            "stale element reference" | "detached shadow root" => WebDriverErrorCode::StaleElement,
            "element not interactable"
            | "element click intercepted"
            | "element not visible"
            | "invalid element state"
            | "element not selectable" => WebDriverErrorCode::NotInteractable,
            "unexpected alert open" => WebDriverErrorCode::AlertOpen,
            "no such alert" | "no alert open" => WebDriverErrorCode::NoAlert,
            "timeout" | "script timeout" => WebDriverErrorCode::Timeout,
            "invalid session id" | "no such driver" | "disconnected" => WebDriverErrorCode::SessionGone,
            "session not created" => WebDriverErrorCode::NotCreated,
            "unknown command" | "unknown method" | "unsupported operation" => WebDriverErrorCode::Unsupported,
            "invalid selector" => WebDriverErrorCode::InvalidSelector,
            "invalid argument" | "invalid coordinates" | "invalid element coordinates" => {
                WebDriverErrorCode::InvalidArgument
            }
            "move target out of bounds" => WebDriverErrorCode::OutOfBounds,
            "javascript error" => WebDriverErrorCode::StepPlan,
            "no such window" | "no such frame" | "no such context" => WebDriverErrorCode::WindowGone,
            _ => WebDriverErrorCode::Unknown,
        }
    }
}

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) enum DriverError {
    /// The driver responded with an error and its own message.
    Refused { refusal: WebDriverErrorCode, describe: String },
    /// The driver was unreachable, so the command was not sent.
    NotSent(io::Error),
    /// The command was sent, and the connection broke.
    Lost { access: Access, error: io::Error },
    /// The command was sent, and the response did not arrive in time.
    TimedOut { access: Access, limit: Duration },
    /// The response exceeds the maximum size.
    TooLarge { size: u64, limit: usize },
    /// The response is not a WebDriver response.
    InvalidResponse { why: &'static str, body: Vec<u8> },
    /// The back end does not support the operation.
    Unsupported(&'static str),
    /// An error that is already classified.
    Fault(Fault),
}

impl From<Fault> for DriverError {
    fn from(fault: Fault) -> DriverError {
        DriverError::Fault(fault)
    }
}

/// The subject of a command, for the texts of its fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandContext<'a> {
    /// The operation, such as `screenshots`.
    pub(crate) what: &'static str,
    /// The driver, such as `chromedriver`.
    pub(crate) driver: &'static str,
    /// The strategy and the selector, if any.
    pub(crate) target: Option<(&'static str, &'a str)>,
}

impl DriverError {
    /// Whether the driver reported this error.
    pub(crate) fn is(&self, wanted: WebDriverErrorCode) -> bool {
        matches!(self, DriverError::Refused { refusal, .. } if *refusal == wanted)
    }

    /// Whether the session is gone.
    pub(crate) fn ends_session(&self) -> bool {
        matches!(self, DriverError::Lost { .. }) || self.is(WebDriverErrorCode::SessionGone)
    }

    /// Whether the back end or the driver does not support the operation.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(self, DriverError::Unsupported(_)) || self.is(WebDriverErrorCode::Unsupported)
    }

    pub(crate) fn fault(self, tried: CommandContext<'_>) -> Fault {
        match self {
            DriverError::Refused { refusal, describe } => {
                refusal_fault(refusal, tried).note("driver", describe)
            }
            DriverError::NotSent(error) => Fault::new(&reason::DEVICE_DRIVER_UNREACHABLE).because(error),
            DriverError::Lost { access, error } => {
                with_effect_of(Fault::new(&reason::DEVICE_DRIVER_DIED), access).because(error)
            }
            DriverError::TimedOut { access, limit } => {
                with_effect_of(Fault::new(&reason::DEVICE_TIMEOUT), access)
                    .fact("limit_s", limit.as_secs_f64())
            }
            DriverError::TooLarge { size, limit } => {
                Fault::new(&reason::DEVICE_TOO_LARGE).fact("bytes", size).fact("limit_bytes", limit)
            }
            DriverError::InvalidResponse { why, body } => {
                Fault::new(&reason::DEVICE_BAD_ANSWER).fact("why", why).capture("answer", body)
            }
            DriverError::Unsupported(what) => unsupported(what, tried.driver),
            DriverError::Fault(fault) => fault,
        }
    }
}

/// An action without a response may have been performed.
fn with_effect_of(fault: Fault, access: Access) -> Fault {
    match access {
        Access::Reads => fault.fact("done", "nothing was changed").with_effect(Effect::None),
        Access::Acts => fault.fact("done", "the action may have been made").with_effect(Effect::Unknown),
    }
}

fn unsupported(what: &'static str, driver: &'static str) -> Fault {
    Fault::new(&reason::DEVICE_UNSUPPORTED).fact("what", what).fact("driver", driver)
}

fn refusal_fault(refusal: WebDriverErrorCode, tried: CommandContext<'_>) -> Fault {
    let aimed = |fault: Fault| match tried.target {
        Some((strategy, selector)) => {
            fault.fact("strategy", strategy).fact("wanted", Echo::of_caller(selector))
        }
        None => fault,
    };
    let why = |why: &'static str| Fault::new(&reason::DEVICE_REFUSED).fact("why", why);
    match refusal {
        WebDriverErrorCode::NoSuchElement => {
            aimed(Fault::new(&reason::DEVICE_NO_SUCH_ELEMENT)).fact("limit_s", 0u64)
        }
        WebDriverErrorCode::StaleElement => Fault::new(&reason::DEVICE_STALE_ELEMENT),
        WebDriverErrorCode::NotInteractable => {
            Fault::new(&reason::DEVICE_NOT_INTERACTABLE).fact("why", "it is hidden, disabled or covered")
        }
        WebDriverErrorCode::OutOfBounds => {
            Fault::new(&reason::DEVICE_NOT_INTERACTABLE).fact("why", "it is outside the screen")
        }
        WebDriverErrorCode::AlertOpen => Fault::new(&reason::DEVICE_ALERT_OPEN),
        WebDriverErrorCode::NoAlert => Fault::new(&reason::DEVICE_NO_ALERT),
        WebDriverErrorCode::SessionGone => Fault::new(&reason::DEVICE_SESSION_GONE),
        WebDriverErrorCode::NotCreated => Fault::new(&reason::DEVICE_SESSION_NOT_CREATED),
        WebDriverErrorCode::Unsupported => unsupported(tried.what, tried.driver),
        WebDriverErrorCode::InvalidSelector => aimed(Fault::new(&reason::DEVICE_INVALID_SELECTOR)),
        WebDriverErrorCode::Timeout => why("its own time limit was hit"),
        WebDriverErrorCode::InvalidArgument => why("an argument does not suit it"),
        WebDriverErrorCode::StepPlan => why("a script failed"),
        WebDriverErrorCode::WindowGone => why("the window or context is gone"),
        WebDriverErrorCode::Unknown => why("it says no more than that something failed"),
    }
}
