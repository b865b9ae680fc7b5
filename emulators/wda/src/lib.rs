//! A stand-in for WebDriverAgent, the runner on an iPhone that Appium's XCUITest driver talks to: a phone with one small
//! app, Pantry, whose screen really changes. For tests and for trying things out without a Mac.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use failwell_emulator_wda::{Emulator, Fault, FaultKind, Options};
//! let emulator = Emulator::start(Options::default()).await?;
//! emulator.control().fail(Fault::new(FaultKind::Hang).on("POST */click").times(1));
//! println!("{}/status", emulator.base_url());
//! # Ok(())
//! # }
//! ```
//!
//! # Invariants
//!
//! * It shares no code with the servers: a stand-in that shared code with the client under test would share its mistakes.
//! * There is one tree of elements, made from the state of the app. The picture, the source, what selectors find and what a
//!   finger hits all come from it, so they cannot disagree.
//! * An element is known by its place in the app, not on the screen: it is stale once the app no longer shows that place.
//! * A command happens as a whole, under one lock, before its answer is sent; a fault asked for says whether it strikes
//!   before or after that.
//! * Everything is in memory, and goes when the [`Emulator`] does. Names are given out in order, so that two runs of the
//!   same calls give the same answers.
//! * Where it is simpler than a phone stands in [`assumed`].

pub mod assumed;
mod call;
mod emulator;
mod fault_kind;
mod http;
mod phone;
mod state;
mod webdriver;

pub use call::Call;
pub use emulator::{Emulator, Options};
pub use failwell_emulator_http::FaultStage;
pub use fault_kind::{Fault, FaultKind};

/// Steers a running emulator.
pub type Control = failwell_emulator_http::Control<state::State>;
