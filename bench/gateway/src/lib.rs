//! Drives one echo tool through many proxies and measures what each of them adds.
//!
//! [`echo`] is the server behind them all, [`stage`] starts everything, [`run`] measures the fast ones side by side,
//! [`peers`] the slow ones a few calls each, [`extras`] what is not about calls per second, and [`bars`] says what ours
//! must reach. The server and the bare proxies themselves are in `src/bin`.

pub mod bars;
pub mod echo;
pub mod extras;
pub mod options;
pub mod peers;
pub mod process;
pub mod run;
pub mod stage;
pub mod stdio;
