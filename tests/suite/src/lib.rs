//! The conformance fixture and what our own error suite needs beside it.
//!
//! [`fixture()`] is a tool server with every tool, prompt and resource the official conformance suite asks for, and
//! the `suite_…` tools, each of which goes wrong in one way. `tests/errors.rs` sends it everything that can go
//! wrong, over every transport and in every revision of the protocol.
//!
//! # Invariants
//!
//! * Every text a tool or a fault keeps private holds [`MARKER`]; no answer in any dialect may ever contain it.
//! * The lists never change: the tools that announce changes only announce them.

pub mod client;
mod fixture;
mod memory_journal;
mod ports;
pub mod program;
pub mod script;

pub use fixture::fixture;
pub use memory_journal::MemoryJournal;
pub use ports::free_port;

/// Stands in everything private, so that a leak is found by searching for one word.
pub const MARKER: &str = "PRIVATE-MARKER-7f3a";
