//! The guard: who is calling, and how much they may ask for.
//!
//! # Invariants
//!
//! * Pure: no I/O, no clock of its own. Time comes in as an argument.
//! * Keys are kept as hashes and compared in constant time.
//! * Every table is bounded.

mod caller;
mod keys;
mod rate;

pub use caller::Caller;
pub use keys::Keys;
pub use rate::{Limiter, Rate};
