//! The guard: who is calling, how much they may ask for, and what they see.
//!
//! # Invariants
//!
//! * Pure: no I/O, no clock of its own. Time comes in as an argument.
//! * Keys are kept as hashes and compared in constant time.
//! * Every table is bounded.

mod caller;
#[cfg_attr(not(feature = "cedar"), path = "charter_absent.rs")]
mod charter;
mod keys;
mod rate;
mod rules;
mod ruling;
mod thing;

pub use caller::Caller;
pub use charter::{Charter, Unreadable};
pub use keys::Keys;
pub use rate::{Limiter, Rate};
pub use rules::{ArgumentCheck, Items, Pattern, Rule, Rules, Sort, Standing, View, Whom};
pub use ruling::{Place, Ruling};
pub use thing::{Act, Thing};
