//! The ledger: what the operator gets to read, under the reference the caller was given.
//!
//! Two books are kept. The [`Journal`] is one structured line per failure on standard error, with the names
//! operators already search for (`timestamp`, `level`, `message`, `service`, `request_id`, `connection_id`,
//! `error_code`, `error_message`, `error_details`, `stack_trace`) plus `reason` and `ref`. The [`Ledger`] is one
//! record per exchange on disk, chained by hash, with the whole story of those that failed; [`Reading`] and
//! [`verify`] look into it, while it is being written too.
//!
//! # Invariants
//!
//! * Words are found off the request's path: what is handed over is moved, not formatted.
//! * Writing never blocks a request, unless the operator wants it so ([`Promise::Critical`]): records go through
//!   a bounded queue to a thread of their own; what does not fit is counted, and the count is a record itself.
//! * A record covers everything before it: its hash is over the hash before it, its number and its bytes.
//! * Every text that is not a literal of ours passes the redactor before it is written anywhere.
//! * This is the only room that opens `Fault::operator()` for good.
//! * What leaves this program for a collector or a database was in the ledger first, spans aside; a [`Carrier`] works
//!   beside the walk, and nobody waits for it.
//! * Nothing here is ever sent to a caller.

mod carrier;
mod chain;
mod entry;
mod follow;
mod journal;
mod ledger;
mod line;
mod printable;
mod read;
mod record;
mod redact;
mod settings;
mod sighting;
mod sink;
mod span;
mod store;
mod story;
mod trace;
mod verify;
mod witness;
mod writer;

pub use carrier::{Carrier, CarrierHealth, Hurry, Tally, Way};
pub use chain::{Hash, Head};
pub use entry::Entry;
pub use follow::{Batch, Bell, Following};
pub use journal::{Journal, Style};
pub use ledger::{Done, Ledger, LedgerHealth, failed};
pub use line::{BodyLine, Event, GuardLine, Line, code as answer_code};
pub use printable::printable;
pub use read::{Format, Query, Reading, Row};
pub use record::{Bodies, Ended, LetIn, Record, Trail, Transport, Verdict};
pub use redact::{BodyRedactor, BodySort, KeptBody, Redactor};
pub use settings::{LedgerSettings, Promise, Retention};
pub use sighting::Sighting;
pub use sink::{Csv, Jsonl, Rotation, Sink, Text, Written};
pub use span::{Side, Span, SpanOutcome, Spans, Tracer};
pub use story::Story;
pub use trace::{Carried, Sampled, SpanId, TRACEPARENT, TRACESTATE, Trace, TraceId, TraceMark};
pub use verify::{Break, Verified, Verifier, verify};
pub use witness::{Testimony, Witness};
