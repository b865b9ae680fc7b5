//! The conformance fixture, and the parts that the error suite needs besides.
//!
//! [`fixture()`] is a tool server with every tool, prompt and resource that the official conformance suite uses, and the
//! `suite_…` tools, each of which fails in one way. `tests/errors` sends it invalid input and failing calls, over every
//! transport and in every revision of the protocol.
//!
//! # Invariants
//!
//! * Every private text of a tool or a fault contains [`MARKER`]. No answer in any dialect may contain it.
//! * The lists never change. The tools that announce a change send only the notification.

pub mod client;
mod fixture;
mod memory_journal;
mod ports;
pub mod program;
pub mod script;

pub use fixture::fixture;
pub use memory_journal::MemoryJournal;
pub use ports::free_port;

/// Part of every private text, so that a leak is found by searching for one word.
pub const MARKER: &str = "PRIVATE-MARKER-7f3a";
