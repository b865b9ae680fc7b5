//! Further destinations of records. They hold copies; the hash chain in the ledger is authoritative.

mod csv;
mod file;
mod jsonl;
mod text;

use failwell_fault::Fault;

use crate::ledger::chain::ChainHead;

pub use csv::CsvSink;
pub(crate) use csv::{HEADER as CSV_HEADER, row as csv_row};
pub use file::Rotation;
pub use jsonl::JsonlSink;
pub(crate) use jsonl::line as jsonl_line;
pub use text::TextSink;
pub(crate) use text::{event_text, lines as text_lines};

pub trait Sink: Send {
    /// The name in the log.
    fn name(&self) -> &'static str;
    /// Takes records that are in the ledger, in order. Runs on the writer thread, so it must return quickly.
    fn write(&mut self, written: &[LedgerRecord]) -> Result<(), Fault>;
    /// Writes buffered data out.
    fn flush(&mut self) {}
}

#[derive(Debug, Clone)]
pub struct LedgerRecord {
    /// The sequence number and the hash.
    pub head: ChainHead,
    /// The record as a JSON object without line breaks; see [`RecordLine`](crate::RecordLine).
    pub body: String,
}
