//! Drives one echo tool through many proxies, and measures the cost that each adds.
//!
//! [`echo`] is the server behind all proxies, and [`stage`] starts the processes. [`run`] measures the fast proxies
//! side by side, and [`peers`] the slow ones with a few calls each. [`extras`] measures memory, pipelining and the first
//! answer, [`instructions`] the instructions per call. [`bars`] has the limits. The server and the bare proxies are in
//! `src/bin`.

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
