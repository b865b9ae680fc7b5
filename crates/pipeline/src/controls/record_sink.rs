use std::net::IpAddr;

use failwell_fault::Fault;
use failwell_toolbox::PortFuture;
use serde_json::{Map, Value};

use crate::record::Record;

/// The destination of exchange records.
pub trait RecordSink: Send + Sync {
    /// Refuses work whose record is already known to be unwritable.
    fn admit(&self) -> Result<(), Fault>;
    /// Whether a response waits until its record is written.
    fn is_critical(&self) -> bool;
    /// Whether a refusal before the caller was identified gets a record and a log line of its own. Otherwise the sink
    /// has counted it.
    fn sample(&self, refused_from: IpAddr, reason: &'static str) -> bool;
    /// The maximum number of bytes recorded per body; `None` for no bodies.
    fn bodies(&self) -> Option<usize>;
    /// Queues a record without waiting.
    fn note(&self, record: Box<Record>);
    /// Writes a record, and waits until it is written.
    fn keep(&self, record: Box<Record>) -> PortFuture<'_, Result<(), Fault>>;
    /// Whether responses must wait for [`RecordSink::wait_for_space`] (back-pressure).
    fn is_crowded(&self) -> bool;
    /// Waits for the writer to catch up, for a bounded time.
    fn wait_for_space(&self) -> PortFuture<'_, ()>;
}

/// An observer of the progress of running requests.
pub trait ProgressObserver: Send + Sync {
    /// Whether any observer is connected.
    fn is_watched(&self) -> bool;
    fn progress(&self, report: Map<String, Value>);
}
