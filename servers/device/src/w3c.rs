//! A thin typed client of W3C WebDriver: <https://www.w3.org/TR/webdriver2/>.
//!
//! `client` has one function per endpoint, each with its access: if the response to an action is lost, its
//! effect is unknown. `error` has the errors that callers distinguish, and their faults.

mod actions;
mod client;
mod element;
mod error;

pub(crate) use actions::{Gesture, Point};
pub(crate) use client::{Access, LogEntry, NewSession, WebDriverClient};
pub(crate) use element::{ElementId, Locator, Rect, Strategy};
pub(crate) use error::{CommandContext, DriverError, WebDriverErrorCode};
