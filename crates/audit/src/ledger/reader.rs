//! Reads the ledger, also while it is being written.

use std::path::Path;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::export::follower::Batch;
use crate::ledger::chain::{ChainHead, RecordHash};
use crate::ledger::file::{head, pruned};
use crate::ledger::record_line::RecordLine;
use crate::ledger::settings::LedgerSettings;
use crate::sink::{CSV_HEADER, LedgerRecord, csv_row, jsonl_line, text_lines};

/// Tolerated backward jump of the clock within the ledger. Records are in write order. A backward search
/// therefore stops at the first record that exceeds the limit by more than this.
const CLOCK_SLACK_MS: i64 = 3_600_000;

/// A read-only connection to a ledger.
pub struct LedgerReader {
    pub(crate) connection: Connection,
}

/// A filter for records. Absent conditions match every record.
#[derive(Debug, Clone, Default)]
pub struct Query {
    pub reference: Option<String>,
    /// The reason, or its area, such as `rpc`.
    pub reason: Option<String>,
    pub caller: Option<String>,
    /// The tool, resource or prompt, with or without its server.
    pub target: Option<String>,
    pub trace: Option<String>,
    /// `ok`, `tool_failed`, `fault`, `event`; `failed` matches all but `ok`.
    pub outcome: Option<String>,
    /// The earliest time, in milliseconds since 1970.
    pub since: Option<i64>,
    /// The latest time, in milliseconds since 1970.
    pub until: Option<i64>,
    /// Only records after this sequence number.
    pub after: Option<i64>,
    /// Maximum number of records; the newest are returned.
    pub limit: Option<usize>,
}

/// A stored record.
#[derive(Debug, Clone)]
pub struct Row {
    pub head: ChainHead,
    /// The time in milliseconds since 1970.
    pub at: i64,
    /// The indexed reference; set for failures only.
    pub reference: Option<String>,
    pub body: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// For spreadsheets.
    Csv,
    /// For people.
    Text,
}

impl Format {
    /// The text before the first record.
    pub fn header(self) -> &'static str {
        if self == Format::Csv { CSV_HEADER } else { "" }
    }
}

impl LedgerReader {
    /// Opens the ledger of a folder; `None` if there is none.
    pub fn open(folder: &Path) -> Result<Option<LedgerReader>, Fault> {
        let path = folder.join(LedgerSettings::FILE);
        if !path.exists() {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).or_fault(&reason::AUDIT_FAILED)?;
        connection.busy_timeout(Duration::from_secs(5)).or_fault(&reason::AUDIT_FAILED)?;
        Ok(Some(LedgerReader { connection }))
    }

    /// Finds a record by its reference.
    pub fn find(&self, reference: &str) -> Result<Option<Row>, Fault> {
        let by_index = "SELECT seq, at, hash, body, ref FROM record WHERE ref = ?1 ORDER BY seq DESC LIMIT 1";
        let found = self.connection.query_row(by_index, [reference], row).optional();
        if let Some(found) = found.or_fault(&reason::AUDIT_FAILED)? {
            return Ok(Some(found));
        }
        // Successful calls are not in the index: scan for them.
        let query = Query { reference: Some(reference.to_owned()), limit: Some(1), ..Query::default() };
        Ok(self.select(&query)?.pop())
    }

    /// The matching records, oldest first.
    pub fn select(&self, query: &Query) -> Result<Vec<Row>, Fault> {
        let mut found = Vec::new();
        self.back(query, |row| {
            found.push(row);
            query.limit.is_none_or(|limit| found.len() < limit)
        })?;
        found.reverse();
        Ok(found)
    }

    /// Passes matching records to `each`, newest first, until it returns false.
    fn back(&self, query: &Query, mut each: impl FnMut(Row) -> bool) -> Result<(), Fault> {
        let all = "SELECT seq, at, hash, body, ref FROM record WHERE seq > ?1 ORDER BY seq DESC";
        let mut select = self.connection.prepare_cached(all).or_fault(&reason::AUDIT_FAILED)?;
        let mut rows = select.query([query.after.unwrap_or(0)]).or_fault(&reason::AUDIT_FAILED)?;
        while let Some(next) = rows.next().or_fault(&reason::AUDIT_FAILED)? {
            let next = row(next).or_fault(&reason::AUDIT_FAILED)?;
            if query.since.is_some_and(|since| next.at < since.saturating_sub(CLOCK_SLACK_MS)) {
                return Ok(());
            }
            if query.fits(&next) && !each(next) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Passes matching records to `each`, oldest first, without loading all of them.
    pub fn each(&self, query: &Query, mut each: impl FnMut(&Row) -> bool) -> Result<(), Fault> {
        let all = "SELECT seq, at, hash, body, ref FROM record WHERE seq > ?1 ORDER BY seq";
        let mut select = self.connection.prepare_cached(all).or_fault(&reason::AUDIT_FAILED)?;
        let mut rows = select.query([query.after.unwrap_or(0)]).or_fault(&reason::AUDIT_FAILED)?;
        while let Some(next) = rows.next().or_fault(&reason::AUDIT_FAILED)? {
            let next = row(next).or_fault(&reason::AUDIT_FAILED)?;
            if query.fits(&next) && !each(&next) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The id of the node that owns the chain.
    pub fn node(&self) -> Result<String, Fault> {
        crate::ledger::file::node(&self.connection).or_fault(&reason::AUDIT_FAILED)
    }

    /// The records after a sequence number, from one snapshot: at most `most`, and at most `bytes` unless the
    /// first is larger.
    pub(crate) fn batch(&self, after: i64, most: usize, bytes: usize) -> Result<Batch, Fault> {
        let snapshot = self.connection.unchecked_transaction().or_fault(&reason::AUDIT_FAILED)?;
        let marks = head(&snapshot).and_then(|head| Ok((head, pruned(&snapshot)?)));
        let (head, removed) = marks.or_fault(&reason::AUDIT_FAILED)?;
        let next = "SELECT seq, at, hash, body, ref FROM record WHERE seq > ?1 ORDER BY seq LIMIT ?2";
        let mut select = snapshot.prepare_cached(next).or_fault(&reason::AUDIT_FAILED)?;
        let mut found =
            select.query((after, i64::try_from(most).unwrap_or(i64::MAX))).or_fault(&reason::AUDIT_FAILED)?;
        let (mut rows, mut size) = (Vec::new(), 0);
        while let Some(next) = found.next().or_fault(&reason::AUDIT_FAILED)? {
            let next = row(next).or_fault(&reason::AUDIT_FAILED)?;
            size += next.body.len();
            if size > bytes && !rows.is_empty() {
                break;
            }
            rows.push(next);
        }
        Ok(Batch { rows, head, removed })
    }

    pub fn head(&self) -> Result<ChainHead, Fault> {
        head(&self.connection).or_fault(&reason::AUDIT_FAILED)
    }
}

pub(crate) fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let hash: Vec<u8> = row.get(2)?;
    let hash = RecordHash::from_bytes(&hash).unwrap_or_else(RecordHash::genesis);
    Ok(Row {
        head: ChainHead { seq: row.get(0)?, hash },
        at: row.get(1)?,
        reference: row.get(4)?,
        body: row.get(3)?,
    })
}

impl Row {
    /// The parsed record. All fields are empty if the stored text is unreadable.
    pub fn line(&self) -> RecordLine<'static> {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The record in this format, with a line break.
    pub fn written(&self, format: Format) -> String {
        let written = LedgerRecord { head: self.head, body: self.body.clone() };
        match format {
            Format::Jsonl => jsonl_line(&written),
            Format::Csv => csv_row(&written),
            Format::Text => text_lines(&written),
        }
    }
}

impl Query {
    /// Returns true if a record matches, regardless of its sequence number.
    pub fn fits(&self, row: &Row) -> bool {
        let in_time =
            self.since.is_none_or(|since| row.at >= since) && self.until.is_none_or(|until| row.at <= until);
        let any = self.reference.is_some()
            || self.reason.is_some()
            || self.caller.is_some()
            || self.trace.is_some()
            || self.target.is_some()
            || self.outcome.is_some();
        in_time && (!any || self.fits_line(&row.line()))
    }

    fn fits_line(&self, line: &RecordLine<'_>) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        is(&self.reference, Some(line.reference.as_ref()))
            && is(&self.caller, line.caller.as_deref())
            && is(&self.trace, line.trace_id.as_deref())
            && self.reason.as_deref().is_none_or(|wanted| is_reason(wanted, line.reason.as_deref()))
            && self.target.as_deref().is_none_or(|wanted| is_target(wanted, line.target.as_deref()))
            && self.outcome.as_deref().is_none_or(|wanted| match wanted {
                "failed" => line.has_failed(),
                wanted => line.outcome == wanted,
            })
    }
}

/// Matches the full reason, its name or its area, ignoring case.
fn is_reason(wanted: &str, found: Option<&str>) -> bool {
    let Some((area, name)) = found.and_then(|found| found.split_once('/')) else { return false };
    [area, name].iter().any(|part| part.eq_ignore_ascii_case(wanted))
        || found.is_some_and(|found| found.eq_ignore_ascii_case(wanted))
}

/// Matches the full name, or the name without its server.
fn is_target(wanted: &str, found: Option<&str>) -> bool {
    found.is_some_and(|found| {
        found == wanted || found.split_once("__").is_some_and(|(_, bare)| bare == wanted)
    })
}
