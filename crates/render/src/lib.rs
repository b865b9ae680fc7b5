//! The scribe: (`ReplyTo`, what happened) → bytes.
//!
//! Every code number and every HTTP status of Failwell lives in [`codes`]; every key of a fault on the wire in
//! `object`. Which dialect to write is read off `ReplyTo`, which was captured before the work started.
//!
//! # Invariants
//!
//! * Total: every reason on every face and in every era has an answer, and rendering never fails.
//! * The matches over kinds and conditions have no wildcard arm: a new one does not compile until it has a row.
//! * Keys come in a fixed order; identical failures give identical bytes, reference (and, in the session era,
//!   time) aside.
//! * No fault takes more than [`LARGEST_FAULT`] bytes: a text or an object past its share is written as its
//!   static core instead.
//! * Nothing behind `Fault::operator()` is read here.

pub mod codes;
mod moment;
mod object;
mod reply;
mod result;
mod text;
mod write;

pub use moment::Moment;
pub use object::{LARGEST_FAULT, public_object};
pub use reply::{Reply, render};
pub use result::{Cache, CacheScope, Outcome, ReportedFailure, ResultKind, ToolFailure};
pub use text::for_the_model;
