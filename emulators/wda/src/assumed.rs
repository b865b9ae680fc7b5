//! Where the emulator is simpler than a phone, or had to choose. A client should rely on none of it.
//!
//! * **An alert in the way.** Touching an element behind an alert is refused with `unexpected alert open`. A phone may also
//!   let the touch land on the alert. A touch by coordinates lands on what is there: the alert, or nothing.
//! * **Cells out of sight** are in the source with `visible="false"` and a place outside the screen. An app that reuses its
//!   cells would leave them out.
//! * **Clicking a cell out of sight** scrolls it into sight first, as `XCTest` does when it can.
//! * **Typing is instant**, at any requested frequency; `\n` presses Return.
//! * **`XPath`** is the part people use: `/`, `//`, names, `*`, `.`, `..`, positions, `last()`, attributes, `contains`,
//!   `starts-with`, `not`, `and`, `or`, `=`, `!=`, and `( … )[n]`. Anything else is an `invalid selector`.
//! * **One app** is installed. Other bundle ids have state 0 and cannot be launched.
//! * **Video, `VoiceOver`, Siri, hand gestures and audits** are not there: `unknown command`.

/// How long a touch has to last to count as a long one, in milliseconds.
pub const LONG_PRESS: u64 = 500;

/// How far a swipe moves the list, as a share of its height, in percent.
pub const SWIPE_SHARE: i32 = 60;

/// How many times a wheel is turned for a value before it is given up, unless the command says so.
pub const WHEEL_ATTEMPTS: u64 = 25;
