//! The courier: the ledger's records and the spans of traces, to an OpenTelemetry collector over OTLP/HTTP.
//!
//! Records are logs. They are read from the ledger itself ([`failwell_audit::Following`]), from where the last one
//! that arrived was left, so that an outage of the collector costs none of them. Spans wait in a bounded queue
//! ([`failwell_audit::Tracer`]); what does not fit, or finds no collector within its budget, is counted.
//!
//! # Invariants
//!
//! * Nobody waits for a collector: all of this happens on one thread of its own.
//! * Attributes hold names of the protocol and of the configuration, ids and reasons; never arguments, results or
//!   anybody's messages. Names a caller chose pass the redactor first.
//! * A collector's answer is read up to a cap, and its words go to the journal alone.
//! * Every attempt has a deadline, every batch a bound, every retry a budget, and so has the farewell.

mod any;
mod collector;
mod courier;
mod fate;
mod logs;
mod place;
mod records;
mod settings;
mod spans;
mod steps;

pub use courier::Otlp;
pub use settings::{OtlpSettings, Wanted};
