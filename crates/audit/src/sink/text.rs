//! Lines for people.

use std::path::PathBuf;

use failwell_fault::Fault;

use super::file::{Growing, Rotation};
use super::{Sink, Written};
use crate::line::{Event, Line};
use crate::printable::printable;

/// One readable line for each record.
pub struct Text(Growing);

impl Text {
    /// Into this file.
    pub fn to(path: impl Into<PathBuf>, rotation: Rotation) -> Text {
        Text(Growing::new(path, rotation, ""))
    }
}

impl Sink for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn write(&mut self, written: &[Written]) -> Result<(), Fault> {
        self.0.add(&written.iter().map(lines).collect::<String>())
    }

    fn flush(&mut self) {
        self.0.sync();
    }
}

/// The line of a record, with its line break. A failure says why on the same line.
pub(crate) fn lines(written: &Written) -> String {
    let line: Line<'_> = serde_json::from_str(&written.body).unwrap_or_default();
    if let Some(event) = &line.event {
        return format!("{} {:<11} {}\n", line.timestamp, "ledger", told(event));
    }
    let mut text =
        format!("{} {:<11} {}", line.timestamp, line.outcome, line.method.as_deref().unwrap_or("-"));
    if let Some(target) = &line.target {
        text.push_str(&format!(" {target}"));
    }
    let caller = line.caller.as_deref().unwrap_or("unknown");
    let milliseconds = std::time::Duration::from_micros(line.duration_us).as_secs_f64() * 1e3;
    text.push_str(&format!(" from {caller} over {} took {milliseconds:.1} ms", line.transport));
    if let (Some(reason), Some(code)) = (&line.reason, line.code) {
        let detail = line.story.as_ref().map_or("", |story| story.detail.as_ref());
        text.push_str(&format!(": {detail} [{reason} · {code}]"));
    }
    text.push_str(&format!(" ref {}", line.reference));
    printable(&text.replace('\n', " ")) + "\n"
}

/// What happened to the ledger, in words.
pub(crate) fn told(event: &Event) -> String {
    match event {
        Event::Lost { records } => format!("{records} records could not be kept before this one"),
        Event::Pruned { through, records, .. } => {
            format!("{records} old records were removed, up to number {through}")
        }
    }
}
