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
//! * It depends on nothing of ours: a stand-in that shared code with the client under test would share its mistakes.
//! * Everything is in memory, and goes when the [`Emulator`] does. One account; one API key.
//! * What the service's documentation does not say stands in [`assumed`], and nowhere else.
//! * A write happens as a whole, under one lock, before its answer is sent; a fault asked for says whether it strikes
//!   before or after that.
//! * Names and numbers are given out in order, so that two runs of the same calls give the same answers.

mod account;
mod answer;
pub mod assumed;
mod calls;
mod clock;
mod control;
mod emulator;
mod fault;
mod filter;
mod gate;
mod http;
mod limiter;
mod methods;
mod page;
mod params;
mod phrase;
mod recur;
mod refusal;
mod seed;
mod signature;
mod smart_add;
mod state;
mod undo;

pub use calls::Call;
pub use control::Control;
pub use emulator::{Emulator, Options};
pub use failwell_emulator_props::Stage;
pub use fault::{Fault, Kind};
pub use limiter::Rate;
pub use seed::{Seed, SeedList, SeedLocation, SeedNote, SeedPerson, SeedTask};
pub use signature::sign;
pub use state::Permission;
