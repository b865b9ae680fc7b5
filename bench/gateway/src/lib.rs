//! Drives one echo tool through many proxies and measures what each of them adds.
//!
//! [`echo`] is the server behind them all, [`stage`] starts everything, [`run`] measures the fast ones side by side,
//! [`peers`] the slow ones a few calls each, [`extras`] memory, pipelining and the first answer, [`instructions`] the
//! instructions of a call. [`bars`] has the limits. The server and the bare proxies themselves are in `src/bin`.

pub mod bars;
pub mod echo;
pub mod extras;
pub mod instructions;
pub mod options;
pub mod peers;
pub mod process;
pub mod run;
pub mod stage;
pub mod stdio;
