//! The ledger: what the operator gets to read, under the reference the caller was given.
//!
//! One structured line per failure on standard error, with the names operators already search for
//! (`timestamp`, `level`, `message`, `service`, `request_id`, `connection_id`, `error_code`, `error_message`,
//! `error_details`, `stack_trace`) plus `reason` and `ref`. JSON when nobody is watching, text on a terminal.
//!
//! # Invariants
//!
//! * Writing never blocks a request: lines go through a bounded queue to a thread of their own, and what does
//!   not fit is counted, never waited for.
//! * This is the only room that opens `Fault::operator()` for good.
//! * Nothing here is ever sent to a caller.

mod entry;
mod journal;
mod sighting;

pub use entry::Entry;
pub use journal::{Journal, Style};
pub use sighting::Sighting;
