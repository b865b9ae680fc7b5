//! What went wrong.
//!
//! A [`Fault`] is one failure: a row of the catalogue ([`reason`]), typed facts and violations for the caller,
//! and, kept apart, everything only the operator may see. This crate knows nothing of JSON, of code numbers
//! or of sockets; it only says what happened and what the caller should do about it.
//!
//! # Invariants
//!
//! * Public text is catalogue literals plus typed facts. A `String` cannot become a fact: there is no such
//!   conversion, and `tests/compile_fail` keeps it so.
//! * `Display` and `Debug` of a fault print the public half; `source()` is always `None`; there is no
//!   `Serialize`. The whole story has one door, [`Fault::operator`].
//! * A foreign error is classified once, where it crosses in, with [`OrFault::or_fault`]. There is no blanket
//!   `From`.
//! * `Result<(), Fault>` is one machine word.

mod catalogue;
mod condition;
mod excerpt;
mod fact;
mod failure;
mod kind;
mod operator;
mod or_fault;
mod outcome;
mod reason_row;
mod reference;
mod secret;
mod violation;

/// The catalogue: every reason a caller can be given.
pub mod reason {
    pub use crate::catalogue::*;
}

pub use condition::Condition;
pub use excerpt::Excerpt;
pub use fact::{Echo, Fact, Name, is_deceptive};
pub use failure::Fault;
pub use kind::{Kind, Level};
pub use operator::{Captured, Operator};
pub use or_fault::OrFault;
pub use outcome::{Effect, Origin, Retry};
pub use reason_row::Reason;
pub use reference::Ref;
pub use secret::Secret;
pub use violation::{Pointer, Rule, Violation};
