//! A stand-in for WebDriverAgent, the runner on an iPhone that Appium's XCUITest driver talks to: a phone with one small
//! app, Pantry, whose screen really changes. For tests and for trying things out without a Mac.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use failwell_emulator_wda::{Emulator, Fault, Kind, Options};
//! let emulator = Emulator::start(Options::default()).await?;
//! emulator.control().fail(Fault::new(Kind::Hang).on("POST */click").times(1));
//! println!("{}/status", emulator.base_url());
//! # Ok(())
//! # }
//! ```
//!
//! # Invariants
//!
//! * It depends on nothing of ours: a stand-in that shared code with the client under test would share its mistakes.
//! * There is one tree of elements, made from the state of the app. The picture, the source, what selectors find and what a
//!   finger hits all come from it, so they cannot disagree.
//! * An element is known by its place in the app, not on the screen: it is stale once the app no longer shows that place.
//! * A command happens as a whole, under one lock, before its answer is sent; a fault asked for says whether it strikes
//!   before or after that.
//! * Everything is in memory, and goes when the [`Emulator`] does. Names are given out in order, so that two runs of the
//!   same calls give the same answers.
//! * Where it is simpler than a phone stands in [`assumed`].

mod app;
pub mod assumed;
mod calls;
mod control;
mod device;
mod draw;
mod emulator;
mod fault;
mod gesture;
mod http;
mod query;
mod refusal;
mod routes;
mod screen;
mod session;
mod source;
mod state;

pub use calls::Call;
pub use control::Control;
pub use emulator::{Emulator, Options};
pub use failwell_emulator_props::Stage;
pub use fault::{Fault, Kind};
