//! The ledger: one record per exchange, and exporters that copy it.
//!
//! The [`Ledger`] stores one record per exchange on disk, chained by hash, with the private half of every fault.
//! [`LedgerReader`] and [`verify()`] read it while it is being written.
//!
//! # Invariants
//!
//! * The request path moves its record into a queue. The thread of the ledger formats it.
//! * Writing never blocks a request unless the operator configures it ([`Durability::Critical`]). The queue
//!   is bounded; records that do not fit are counted, and the count is itself a record.
//! * Requests that were refused before their caller was identified are sampled and counted. They have a share of
//!   their own of what retention allows, and never cost a record of a caller.
//! * The hash of a record covers the previous hash, its sequence number and its bytes.
//! * Every text that is not a literal of this program passes the redactor before it is written.
//! * While serving, only this crate and `journal` write out `Fault::operator()`. Commands also print it on the
//!   operator's terminal.
//! * A record is exported only after it is in the ledger; spans are the exception. An [`Exporter`] runs on
//!   its own thread and delays no request.
//! * This crate sends no data to callers.

mod export;
mod ledger;
mod sink;

pub use export::follower::{Batch, LedgerFollower, WriteSignal};
pub use export::replica::{Replica, ReplicaAck};
pub use export::{ExportCounters, Exporter, ExporterHandle, ExporterHealth, FlushRequest};
pub use ledger::chain::{ChainHead, RecordHash};
pub use ledger::reader::{Format, LedgerReader, Query, Row};
pub use ledger::record_line::{BodyLine, Event, GuardLine, RecordLine, RemovedRange};
pub use ledger::settings::{Durability, LedgerSettings, Retention};
pub use ledger::verify::{ChainBreak, Removal, Verifier, VerifyReport, verify};
pub use ledger::{ForwardState, Ledger, LedgerHealth, failed};
pub use sink::{CsvSink, JsonlSink, LedgerRecord, Rotation, Sink, TextSink};
