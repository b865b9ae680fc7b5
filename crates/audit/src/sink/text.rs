//! Readable lines for people.

use std::path::PathBuf;

use failwell_fault::Fault;

use super::file::{RotatingFile, Rotation};
use super::{LedgerRecord, Sink};
use crate::ledger::record_line::{Event, RecordLine};
use failwell_journal::printable;

/// Writes one readable line per record.
pub struct TextSink(RotatingFile);

impl TextSink {
    pub fn to(path: impl Into<PathBuf>, rotation: Rotation) -> TextSink {
        TextSink(RotatingFile::new(path, rotation, ""))
    }
}

impl Sink for TextSink {
    fn name(&self) -> &'static str {
        "text"
    }

    fn write(&mut self, written: &[LedgerRecord]) -> Result<(), Fault> {
        self.0.add(&written.iter().map(lines).collect::<String>())
    }

    fn flush(&mut self) {
        self.0.sync();
    }
}

/// The line of a record, with a line break. For a failure it includes the reason.
pub(crate) fn lines(written: &LedgerRecord) -> String {
    let line: RecordLine<'_> = serde_json::from_str(&written.body).unwrap_or_default();
    if let Some(event) = &line.event {
        return format!("{} {:<11} {}\n", line.timestamp, "ledger", event_text(event));
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

/// Describes an event of the ledger.
pub(crate) fn event_text(event: &Event) -> String {
    match event {
        Event::Lost { records } => format!("{records} records could not be kept before this one"),
        Event::Pruned { through, records, .. } => {
            format!("{records} old records were removed, up to number {through}")
        }
        Event::RefusalsPruned { records, until, .. } => {
            format!("{records} old refusals were removed, up to {until}")
        }
        Event::Refused { reason, address, count, since } => {
            let from = address.as_deref().unwrap_or("several addresses");
            format!("{count} more requests from {from} were refused since {since}: {reason}")
        }
        Event::UncleanEnd { started, pid, lost: 0 } => {
            format!(
                "the program that started at {started} (process {pid}) was killed; its last records may be missing"
            )
        }
        Event::UncleanEnd { started, pid, lost } => {
            format!(
                "the program that started at {started} (process {pid}) could not write its last {lost} records"
            )
        }
        Event::FileReplaced { seq, hash } => {
            format!(
                "the ledger's file was removed or replaced while it was in use; its chain had reached {seq}:{hash}"
            )
        }
    }
}
