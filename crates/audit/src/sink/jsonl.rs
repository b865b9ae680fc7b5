//! JSON Lines: each record, preceded by its sequence number and hash.

use std::path::PathBuf;

use failwell_fault::Fault;

use super::file::{RotatingFile, Rotation};
use super::{LedgerRecord, Sink};

/// Writes one JSON object per line.
pub struct JsonlSink(RotatingFile);

impl JsonlSink {
    pub fn to(path: impl Into<PathBuf>, rotation: Rotation) -> JsonlSink {
        JsonlSink(RotatingFile::new(path, rotation, ""))
    }
}

impl Sink for JsonlSink {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn write(&mut self, written: &[LedgerRecord]) -> Result<(), Fault> {
        self.0.add(&written.iter().map(line).collect::<String>())
    }

    fn flush(&mut self) {
        self.0.sync();
    }
}

/// The line of a record, with a line break.
pub(crate) fn line(written: &LedgerRecord) -> String {
    let members = written.body.strip_prefix('{').unwrap_or("}");
    format!("{{\"seq\":{},\"hash\":\"{}\",{members}\n", written.head.seq, written.head.hash)
}
