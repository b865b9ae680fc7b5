//! The operator's log: one structured line per failure on standard error.
//!
//! The field names are those of S2 in docs/sources.md (`timestamp`, `level`, `message`, `service`, `request_id`,
//! `connection_id`, `error_code`, `error_message`, `error_details`, `stack_trace`), plus `reason` and `ref`.
//!
//! # Invariants
//!
//! * A request hands its failure over by moving it. A thread of the journal formats and writes it.
//! * Writing never blocks a request. Lines that do not fit the queue are counted.
//! * Every text that is not a literal of this program passes the redactor before it is written.
//! * Nothing here is sent to a caller.

mod entry;
mod fault_report;
mod guard_notice;
mod journal;
mod memory_log;
mod printable;
mod redact;
mod server_notice;

pub use entry::Entry;
pub use fault_report::{FaultReport, weight};
pub use guard_notice::GuardNotice;
pub use journal::{Journal, LogStyle};
pub use memory_log::MemoryLog;
pub use printable::printable;
pub use redact::{BodyKind, BodyRedactor, Redactor, StoredBody, TextRedactor};
pub use server_notice::ServerNotice;
