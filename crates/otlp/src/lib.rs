//! Exports ledger records and trace spans to an OpenTelemetry collector over OTLP/HTTP.
//!
//! Records become logs. They are read from the ledger ([`failwell_audit::LedgerFollower`]), starting after
//! the last exported one. An outage of the collector therefore loses none. Spans wait in a bounded queue
//! ([`failwell_pipeline::Tracer`]). Spans that do not fit, or cannot be delivered within their budget, are
//! counted as dropped.
//!
//! # Invariants
//!
//! * No request waits for a collector: the export runs on a separate thread.
//! * Attributes hold protocol and configuration names, ids and reasons. They never hold arguments, results or
//!   messages. Names that a caller chose pass the redactor first.
//! * The response of a collector is read up to a maximum size, and its text goes to the journal only.
//! * Every attempt has a deadline, every batch a bound, and every retry a budget. The final flush has a
//!   deadline too.

mod attributes;
mod collector;
mod cursor;
mod export_result;
mod exporter;
mod log_exporter;
mod log_records;
mod settings;
mod span_exporter;
mod span_records;

pub use exporter::OtlpExporter;
pub use settings::{OtlpSettings, Signal};
