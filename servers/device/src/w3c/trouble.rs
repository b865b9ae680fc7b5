//! What can go wrong with a command: the W3C error codes, and everything that keeps an answer from coming.

use std::io;
use std::time::Duration;

use failwell_fault::{Echo, Effect, Fault, reason};

use super::client::Touch;

/// A W3C error, <https://www.w3.org/TR/webdriver2/#errors>, as far as callers here tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
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
    Script,
    WindowGone,
    Unknown,
}

impl Refusal {
    /// Reads an error code. Drivers that speak an older dialect use some of their own.
    pub(crate) fn of_code(code: &str) -> Refusal {
        match code {
            "no such element" | "no such shadow root" => Refusal::NoSuchElement,
            "stale element reference" | "detached shadow root" => Refusal::StaleElement,
            "element not interactable"
            | "element click intercepted"
            | "element not visible"
            | "invalid element state"
            | "element not selectable" => Refusal::NotInteractable,
            "unexpected alert open" => Refusal::AlertOpen,
            "no such alert" | "no alert open" => Refusal::NoAlert,
            "timeout" | "script timeout" => Refusal::Timeout,
            "invalid session id" | "no such driver" | "disconnected" => Refusal::SessionGone,
            "session not created" => Refusal::NotCreated,
            "unknown command" | "unknown method" | "unsupported operation" => Refusal::Unsupported,
            "invalid selector" => Refusal::InvalidSelector,
            "invalid argument" | "invalid coordinates" | "invalid element coordinates" => {
                Refusal::InvalidArgument
            }
            "move target out of bounds" => Refusal::OutOfBounds,
            "javascript error" => Refusal::Script,
            "no such window" | "no such frame" | "no such context" => Refusal::WindowGone,
            _ => Refusal::Unknown,
        }
    }
}

/// Why a command did not do what it should.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The driver answered, with an error and words of its own.
    Refused { refusal: Refusal, words: String },
    /// The driver could not be reached, so nothing was sent.
    NotSent(io::Error),
    /// It was sent, and the connection broke off.
    Lost { touch: Touch, error: io::Error },
    /// It was sent, and the answer did not come.
    Late { touch: Touch, limit: Duration },
    /// The answer is too large: its size, and the most that is taken.
    TooLarge { size: u64, limit: usize },
    /// The answer is none.
    Nonsense { why: &'static str, body: Vec<u8> },
    /// The back end has no way to do it.
    Unsupported(&'static str),
    /// What has its fault already.
    Fault(Fault),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        Trouble::Fault(fault)
    }
}

/// What a command was about, for the words of its fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tried<'a> {
    /// Such as `screenshots`.
    pub(crate) what: &'static str,
    /// Such as `chromedriver`.
    pub(crate) driver: &'static str,
    /// The strategy and the selector, if there is one.
    pub(crate) aim: Option<(&'static str, &'a str)>,
}

impl Trouble {
    /// Whether the driver said this.
    pub(crate) fn is(&self, wanted: Refusal) -> bool {
        matches!(self, Trouble::Refused { refusal, .. } if *refusal == wanted)
    }

    /// Whether there is no session left to talk to.
    pub(crate) fn ends_session(&self) -> bool {
        matches!(self, Trouble::Lost { .. }) || self.is(Refusal::SessionGone)
    }

    /// Whether the back end or the driver cannot do it at all.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(self, Trouble::Unsupported(_)) || self.is(Refusal::Unsupported)
    }

    /// What the caller is told.
    pub(crate) fn fault(self, tried: Tried<'_>) -> Fault {
        match self {
            Trouble::Refused { refusal, words } => refused(refusal, tried).note("driver", words),
            Trouble::NotSent(error) => Fault::new(&reason::DEVICE_DRIVER_UNREACHABLE).because(error),
            Trouble::Lost { touch, error } => {
                touched(Fault::new(&reason::DEVICE_DRIVER_DIED), touch).because(error)
            }
            Trouble::Late { touch, limit } => {
                touched(Fault::new(&reason::DEVICE_TIMEOUT), touch).fact("limit_s", limit.as_secs_f64())
            }
            Trouble::TooLarge { size, limit } => {
                Fault::new(&reason::DEVICE_TOO_LARGE).fact("bytes", size).fact("limit_bytes", limit)
            }
            Trouble::Nonsense { why, body } => {
                Fault::new(&reason::DEVICE_BAD_ANSWER).fact("why", why).capture("answer", body)
            }
            Trouble::Unsupported(what) => unsupported(what, tried.driver),
            Trouble::Fault(fault) => fault,
        }
    }
}

/// Nobody knows what a command did whose answer is missing.
fn touched(fault: Fault, touch: Touch) -> Fault {
    match touch {
        Touch::Looks => fault.fact("done", "nothing was changed").with_effect(Effect::None),
        Touch::Acts => fault.fact("done", "the action may have been made").with_effect(Effect::Unknown),
    }
}

fn unsupported(what: &'static str, driver: &'static str) -> Fault {
    Fault::new(&reason::DEVICE_UNSUPPORTED).fact("what", what).fact("driver", driver)
}

fn refused(refusal: Refusal, tried: Tried<'_>) -> Fault {
    let aimed = |fault: Fault| match tried.aim {
        Some((strategy, selector)) => {
            fault.fact("strategy", strategy).fact("wanted", Echo::of_caller(selector))
        }
        None => fault,
    };
    let why = |why: &'static str| Fault::new(&reason::DEVICE_REFUSED).fact("why", why);
    match refusal {
        Refusal::NoSuchElement => aimed(Fault::new(&reason::DEVICE_NO_SUCH_ELEMENT)).fact("limit_s", 0u64),
        Refusal::StaleElement => Fault::new(&reason::DEVICE_STALE_ELEMENT),
        Refusal::NotInteractable => {
            Fault::new(&reason::DEVICE_NOT_INTERACTABLE).fact("why", "it is hidden, disabled or covered")
        }
        Refusal::OutOfBounds => {
            Fault::new(&reason::DEVICE_NOT_INTERACTABLE).fact("why", "it is outside the screen")
        }
        Refusal::AlertOpen => Fault::new(&reason::DEVICE_ALERT_OPEN),
        Refusal::NoAlert => Fault::new(&reason::DEVICE_NO_ALERT),
        Refusal::SessionGone => Fault::new(&reason::DEVICE_SESSION_GONE),
        Refusal::NotCreated => Fault::new(&reason::DEVICE_SESSION_NOT_CREATED),
        Refusal::Unsupported => unsupported(tried.what, tried.driver),
        Refusal::InvalidSelector => aimed(Fault::new(&reason::DEVICE_INVALID_SELECTOR)),
        Refusal::Timeout => why("its own time limit was hit"),
        Refusal::InvalidArgument => why("an argument does not suit it"),
        Refusal::Script => why("a script failed"),
        Refusal::WindowGone => why("the window or context is gone"),
        Refusal::Unknown => why("it says no more than that something failed"),
    }
}
