//! JSON Lines: the record with its number and hash in front.

use std::path::PathBuf;

use failwell_fault::Fault;

use super::file::{Growing, Rotation};
use super::{Sink, Written};

/// One JSON object on each line.
pub struct Jsonl(Growing);

impl Jsonl {
    /// Into this file.
    pub fn to(path: impl Into<PathBuf>, rotation: Rotation) -> Jsonl {
        Jsonl(Growing::new(path, rotation, ""))
    }
}

impl Sink for Jsonl {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn write(&mut self, written: &[Written]) -> Result<(), Fault> {
        self.0.add(&written.iter().map(line).collect::<String>())
    }

    fn flush(&mut self) {
        self.0.sync();
    }
}

/// The line of a record, with its line break.
pub(crate) fn line(written: &Written) -> String {
    let members = written.body.strip_prefix('{').unwrap_or("}");
    format!("{{\"seq\":{},\"hash\":\"{}\",{members}\n", written.head.seq, written.head.hash)
}
