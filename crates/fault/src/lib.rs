//! The error model.
//!
//! A [`Fault`] is one failure: a [`Reason`], typed facts and violations for the caller, and a private half
//! for the operator. The core's reasons are in [`reason`]; a tool server declares its own with [`reasons!`].
//! A [`ReasonRegistry`] lists the reasons of one program. This crate does no I/O and knows no JSON and no
//! code numbers.
//!
//! # Invariants
//!
//! * Public text is catalogue literals plus typed facts. A `String` cannot become a fact: there is no such
//!   conversion, and `tests/compile_fail` proves it.
//! * `Display` and `Debug` of a fault print the public half; `source()` is always `None`; there is no
//!   `Serialize`. [`Fault::operator`] is the only access to the private half.
//! * A foreign error is classified once, where it arrives, with [`OrFault::or_fault`]. There is no blanket
//!   `From`.
//! * `Result<(), Fault>` is one machine word.

#[allow(rustdoc::bare_urls, reason = "what a reason is about is printed as it is")]
mod catalogue;
mod condition;
mod excerpt;
mod fact;
mod fault;
mod kind;
mod operator;
mod or_fault;
mod outcome;
mod reason_row;
mod reasons_macro;
mod reference;
mod registry;
mod secret;
mod violation;

/// The core catalogue. Each tool server has a module of the same name with its own rows, made by
/// [`reasons!`].
pub mod reason {
    pub use crate::catalogue::*;
}

pub use condition::Condition;
pub use excerpt::Excerpt;
pub use fact::{Echo, Fact, Name, is_deceptive};
pub use fault::Fault;
pub use kind::{Kind, Level};
pub use operator::{CapturedOutput, Operator};
pub use or_fault::OrFault;
pub use outcome::{Effect, Origin, Retry};
pub use reason_row::{Advice, Reason};
pub use reference::Ref;
pub use registry::{ReasonRegistry, RegistryError};
pub use secret::Secret;
pub use violation::{Pointer, Rule, Violation};
