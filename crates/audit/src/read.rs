//! Looking into the ledger, while it is being written too.

use std::path::Path;
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::chain::{Hash, Head};
use crate::follow::Batch;
use crate::line::Line;
use crate::settings::LedgerSettings;
use crate::sink::{CSV_HEADER, Written, csv_row, jsonl_line, text_lines};
use crate::store::{head, pruned};

/// How far the clock may have been set back within the ledger. Records are in the order they were written, so
/// looking back ends at the first that is older than wanted by more than this.
const CLOCK_SLACK_MS: i64 = 3_600_000;

/// A ledger that is only read.
pub struct Reading {
    pub(crate) connection: Connection,
}

/// What is looked for. What is not said is not asked.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The reference.
    pub reference: Option<String>,
    /// The reason, or a room such as `rpc`.
    pub reason: Option<String>,
    /// The caller.
    pub caller: Option<String>,
    /// The tool, resource or prompt, with or without its server.
    pub target: Option<String>,
    /// The trace.
    pub trace: Option<String>,
    /// `ok`, `tool_failed`, `fault`, `event`; `failed` for all but `ok`.
    pub outcome: Option<String>,
    /// Not older than this, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Not younger than this.
    pub until: Option<i64>,
    /// Only after this number.
    pub after: Option<i64>,
    /// So many at the most, the youngest.
    pub limit: Option<usize>,
}

/// One record as it is stored.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its number and its hash.
    pub head: Head,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The reference it is looked up by, when it has failed.
    pub reference: Option<String>,
    /// The record.
    pub body: String,
}

/// How records are written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// For spreadsheets.
    Csv,
    /// For people.
    Text,
}

impl Format {
    /// What stands before the first record.
    pub fn header(self) -> &'static str {
        if self == Format::Csv { CSV_HEADER } else { "" }
    }
}

impl Reading {
    /// Opens the ledger of a folder; `None` when there is none.
    pub fn open(folder: &Path) -> Result<Option<Reading>, Fault> {
        let path = folder.join(LedgerSettings::FILE);
        if !path.exists() {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).or_fault(&reason::AUDIT_FAILED)?;
        connection.busy_timeout(Duration::from_secs(5)).or_fault(&reason::AUDIT_FAILED)?;
        Ok(Some(Reading { connection }))
    }

    /// The record of a reference.
    pub fn find(&self, reference: &str) -> Result<Option<Row>, Fault> {
        let by_index = "SELECT seq, at, hash, body, ref FROM record WHERE ref = ?1 ORDER BY seq DESC LIMIT 1";
        let found = self.connection.query_row(by_index, [reference], row).optional();
        if let Some(found) = found.or_fault(&reason::AUDIT_FAILED)? {
            return Ok(Some(found));
        }
        // What went well has no place in the index.
        let query = Query { reference: Some(reference.to_owned()), limit: Some(1), ..Query::default() };
        Ok(self.select(&query)?.pop())
    }

    /// What fits a query, oldest first.
    pub fn select(&self, query: &Query) -> Result<Vec<Row>, Fault> {
        let mut found = Vec::new();
        self.back(query, |row| {
            found.push(row);
            query.limit.is_none_or(|limit| found.len() < limit)
        })?;
        found.reverse();
        Ok(found)
    }

    /// Shows what fits to `each`, youngest first, until it has enough.
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

    /// Shows everything that fits to `each`, oldest first, without holding it all.
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

    /// Who keeps the chain.
    pub fn node(&self) -> Result<String, Fault> {
        crate::store::node(&self.connection).or_fault(&reason::AUDIT_FAILED)
    }

    /// The records after a number, as of one moment: at most so many, and so many bytes unless the first is larger.
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

    /// The end of the chain.
    pub fn head(&self) -> Result<Head, Fault> {
        head(&self.connection).or_fault(&reason::AUDIT_FAILED)
    }
}

pub(crate) fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let hash: Vec<u8> = row.get(2)?;
    let hash = Hash::from_bytes(&hash).unwrap_or_else(Hash::genesis);
    Ok(Row {
        head: Head { seq: row.get(0)?, hash },
        at: row.get(1)?,
        reference: row.get(4)?,
        body: row.get(3)?,
    })
}

impl Row {
    /// The record's members; empty ones when somebody made it unreadable.
    pub fn line(&self) -> Line<'static> {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The record as it is written out, with its line break.
    pub fn written(&self, format: Format) -> String {
        let written = Written { head: self.head, body: self.body.clone() };
        match format {
            Format::Jsonl => jsonl_line(&written),
            Format::Csv => csv_row(&written),
            Format::Text => text_lines(&written),
        }
    }
}

impl Query {
    /// Whether a record is looked for, its number aside.
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

    fn fits_line(&self, line: &Line<'_>) -> bool {
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

/// The reason itself, its name without the room, or its room, whatever the case.
fn is_reason(wanted: &str, found: Option<&str>) -> bool {
    let Some((room, name)) = found.and_then(|found| found.split_once('/')) else { return false };
    [room, name].iter().any(|part| part.eq_ignore_ascii_case(wanted))
        || found.is_some_and(|found| found.eq_ignore_ascii_case(wanted))
}

/// The whole name, or the name without its server.
fn is_target(wanted: &str, found: Option<&str>) -> bool {
    found.is_some_and(|found| {
        found == wanted || found.split_once("__").is_some_and(|(_, bare)| bare == wanted)
    })
}
