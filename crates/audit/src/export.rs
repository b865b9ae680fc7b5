//! Exporters: they copy records and spans to other systems, outside of the request path.

mod counters;
pub(crate) mod follower;
mod handle;
pub(crate) mod replica;

use std::time::Duration;

pub use self::counters::ExportCounters;
pub use self::handle::{ExporterHandle, FlushRequest};

/// An exporter runs on its own thread. It reports its health and can be flushed before shutdown.
pub trait Exporter: Send + Sync {
    /// One entry for each kind of data that it exports.
    fn health(&self) -> Vec<ExporterHealth>;
    /// Waits until all data handed over so far has arrived, for at most `patience`.
    fn flush(&self, patience: Duration);
}

/// The health of an exporter for one kind of data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExporterHealth {
    /// The kind of data and its destination: a literal, used as a metric label.
    pub to: &'static str,
    /// The last attempt succeeded.
    pub works: bool,
    /// Items that have arrived.
    pub sent: u64,
    /// Items that are lost.
    pub dropped: u64,
    /// Failed attempts.
    pub failures: u64,
    /// Items in the queue.
    pub waiting: u64,
    /// The age of the oldest item in the last batch when it arrived.
    pub lag: Duration,
}
