//! Renders an outcome or a fault as bytes, in the dialect that `ReplyTo` names.
//!
//! Every code number and every HTTP status of Failwell is in [`codes`]; every key of a fault on the wire is
//! in `object`. `ReplyTo` was captured before the work started.
//!
//! # Invariants
//!
//! * Total: every reason has a response in every dialect and era, and rendering never fails.
//! * The matches over kinds and conditions have no wildcard arm: a new one does not compile until it has a
//!   row.
//! * Keys have a fixed order. Identical failures give identical bytes, except for the reference and, in the
//!   session era, the time.
//! * No fault is larger than [`LARGEST_FAULT`] bytes: a text or an object beyond its share is replaced by
//!   literals.
//! * This crate never reads the private half of a fault (`Fault::operator()`).

pub mod codes;
mod moment;
mod public_fault;
mod reply;
mod result;
mod write;

pub use moment::Moment;
pub use public_fault::{LARGEST_FAULT, for_the_model, public_object};
pub use reply::{Reply, render};
pub use result::{Cache, CacheScope, Outcome, ReportedFailure, ResultKind, ToolFailure};
