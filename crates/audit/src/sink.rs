//! Where records go besides the ledger's own file. Copies: the chain in the ledger is what counts.

mod csv;
mod file;
mod jsonl;
mod text;

use failwell_fault::Fault;

use crate::chain::Head;

pub use csv::Csv;
pub(crate) use csv::{HEADER as CSV_HEADER, row as csv_row};
pub use file::Rotation;
pub use jsonl::Jsonl;
pub(crate) use jsonl::line as jsonl_line;
pub use text::Text;
pub(crate) use text::lines as text_lines;

/// A place for copies of records.
pub trait Sink: Send {
    /// What it is called in the log.
    fn name(&self) -> &'static str;
    /// Takes records that are in the ledger, in order. Called on the ledger's own thread: it must not take long.
    fn write(&mut self, written: &[Written]) -> Result<(), Fault>;
    /// Everything so far should be where it belongs.
    fn flush(&mut self) {}
}

/// A record that is in the ledger.
#[derive(Debug, Clone)]
pub struct Written {
    /// Its number and its hash.
    pub head: Head,
    /// The record, as a JSON object without line breaks; see [`Line`](crate::Line).
    pub body: String,
}
