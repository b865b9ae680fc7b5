//! The guard: who is calling, how much they may ask for, what they see, and what messages may carry.
//!
//! # Invariants
//!
//! * Pure: no I/O, no clock of its own. Time comes in as an argument.
//! * Keys are kept as hashes and compared in constant time. Tokens are checked with public keys that are handed in.
//! * Every table is bounded.
//! * Looking through a message takes time in proportion to its size, whatever is in it.
//! * Findings say what and where, never the content. A message that was redacted is still JSON, and looking
//!   through it again finds nothing.

mod caller;
#[cfg_attr(not(feature = "cedar"), path = "charter_absent.rs")]
mod charter;
pub mod guard;
mod keys;
mod limits;
mod rate;
mod role;
mod rules;
mod ruling;
mod thing;
mod token;

pub use caller::Caller;
pub use charter::{Charter, Unreadable};
pub use guard::{GuardSettings, Guards};
pub use keys::{KeyHash, Keys};
pub use limits::{Allowance, Allowances, Limits, Place as HeldPlace};
pub use rate::{Bucket, Counted, Limiter, Rate};
pub use role::Role;
pub use rules::{ArgumentCheck, Items, Pattern, Rule, Rules, Sort, Standing, View, Whom};
pub use ruling::{Place, Ruling};
pub use thing::{Act, Thing};
pub use token::{KeySet, TokenFlaw, TokenRules};
