//! CSV for spreadsheets. No cell can become a formula.

use std::path::PathBuf;

use failwell_fault::Fault;

use super::file::{RotatingFile, Rotation};
use super::{LedgerRecord, Sink};
use crate::ledger::record_line::RecordLine;

/// The first line of each file.
pub(crate) const HEADER: &str = "seq,timestamp,ref,outcome,reason,kind,code,effect,retry,origin,service,transport,face,revision,connection_id,request_id,caller,method,target,server,duration_us,bytes_in,bytes_out,detail,hash\n";

/// Writes one row per record.
pub struct CsvSink(RotatingFile);

impl CsvSink {
    pub fn to(path: impl Into<PathBuf>, rotation: Rotation) -> CsvSink {
        CsvSink(RotatingFile::new(path, rotation, HEADER))
    }
}

impl Sink for CsvSink {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn write(&mut self, written: &[LedgerRecord]) -> Result<(), Fault> {
        self.0.add(&written.iter().map(row).collect::<String>())
    }

    fn flush(&mut self) {
        self.0.sync();
    }
}

/// The row of a record, with a line break.
pub(crate) fn row(written: &LedgerRecord) -> String {
    let line: RecordLine<'_> = serde_json::from_str(&written.body).unwrap_or_default();
    let text = |text: &Option<std::borrow::Cow<'_, str>>| cell(text.as_deref().unwrap_or_default());
    let detail = line.story.as_ref().map_or("", |story| story.detail.as_ref());
    let cells = [
        written.head.seq.to_string(),
        cell(&line.timestamp),
        cell(&line.reference),
        cell(&line.outcome),
        text(&line.reason),
        text(&line.kind),
        line.code.map(|code| code.to_string()).unwrap_or_default(),
        text(&line.effect),
        text(&line.retry),
        text(&line.origin),
        cell(&line.service),
        cell(&line.transport),
        cell(&line.face),
        text(&line.revision),
        cell(&line.connection_id),
        text(&line.request_id),
        text(&line.caller),
        text(&line.method),
        text(&line.target),
        text(&line.server),
        line.duration_us.to_string(),
        line.bytes_in.to_string(),
        line.bytes_out.to_string(),
        cell(detail),
        written.head.hash.to_string(),
    ];
    cells.join(",") + "\n"
}

/// Escapes a cell, so that a spreadsheet shows it and does not evaluate it. A possible formula gets a leading
/// apostrophe, control characters become spaces, and quotes are doubled.
fn cell(text: &str) -> String {
    let mut plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let first = plain.trim_start().chars().next();
    if first.is_some_and(|c| matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '|' | '%')) {
        plain.insert(0, '\'');
    }
    if plain.contains([',', '"', ';', '\'']) || plain != plain.trim() {
        plain = format!("\"{}\"", plain.replace('"', "\"\""));
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn no_cell_is_a_formula_and_none_breaks_its_row() {
        for (text, written) in [
            ("plain", "plain"),
            ("=1+1", "\"'=1+1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("-2+3", "\"'-2+3\""),
            ("+cmd|' /C calc'!A0", "\"'+cmd|' /C calc'!A0\""),
            ("\t=1", "\"' =1\""),
            ("＝1", "\"'＝1\""),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\r\nb", "a  b"),
        ] {
            assert_eq!(cell(text), written, "{text:?}");
        }
    }
}
