//! A thin typed client of W3C WebDriver: <https://www.w3.org/TR/webdriver2/>.
//!
//! `line` exchanges one HTTP request for one answer, under a deadline and a cap. `command` says of each request whether it
//! touches the device, because a lost answer then means that nobody knows what happened. `client` has one function per
//! endpoint. `trouble` is everything that can go wrong, as callers branch on it, and how it becomes a fault.

mod actions;
mod client;
mod line;
mod located;
mod trouble;

pub(crate) use actions::{Gesture, Point};
pub(crate) use client::{Client, LogEntry, Started, Touch};
pub(crate) use line::{Endpoint, Line};
pub(crate) use located::{ElementId, Locator, Rect, Strategy};
pub(crate) use trouble::{Refusal, Tried, Trouble};
