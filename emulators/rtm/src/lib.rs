//! A stand-in for the web service of Remember The Milk: the REST methods, the approval page, time zones, smart add,
//! filters, recurrence and undo, on loopback, for tests and for trying things out without an account.
//!
//! ```no_run
//! # async fn example() -> std::io::Result<()> {
//! use failwell_emulator_rtm::{Emulator, Options};
//! let emulator = Emulator::start(Options::default()).await?;
//! let token = emulator.control().token(failwell_emulator_rtm::Permission::Delete);
//! println!("{}/services/rest/ {token}", emulator.base_url());
//! # Ok(())
//! # }
//! ```
//!
//! # Invariants
//!
//! * It shares no code with the servers: a stand-in that shared code with the client under test would share its mistakes.
//! * Everything is in memory, and goes when the [`Emulator`] does. One account; one API key.
//! * What the service's documentation does not say stands in [`assumed`], and nowhere else.
//! * A write happens as a whole, under one lock, before its answer is sent; a fault asked for says whether it strikes
//!   before or after that.
//! * Names and numbers are given out in order, so that two runs of the same calls give the same answers.

mod api;
pub mod assumed;
mod call;
mod control;
mod emulator;
mod fault_kind;
mod http;
mod language;
mod state;

pub use api::signature::sign;
pub use call::Call;
pub use control::Control;
pub use emulator::{Emulator, Options};
pub use failwell_emulator_http::FaultStage;
pub use fault_kind::{Fault, FaultKind};
pub use http::limiter::Rate;
pub use state::Permission;
pub use state::seed::{Seed, SeedList, SeedLocation, SeedNote, SeedPerson, SeedTask};
