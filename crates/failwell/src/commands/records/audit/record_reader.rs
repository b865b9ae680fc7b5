//! One reader for both sources: the ledger of one node, and the archive of several nodes.

use std::collections::BTreeMap;

use failwell_audit::{ChainHead, Format, LedgerReader, Query, Row, VerifyReport, verify};
use failwell_fault::Fault;

#[cfg(feature = "postgres")]
use super::archive::OpenArchive;
use super::folder;
use crate::cli::RecordLocation;
#[cfg(feature = "postgres")]
use crate::commands::serving::serve;
use crate::commands::state_file::StateFile;
use crate::complaint::Complaint;

/// The source of records.
pub(in crate::commands) enum RecordReader {
    Ledger(LedgerReader, StateFile),
    #[cfg(feature = "postgres")]
    Archive(Box<OpenArchive>),
}

/// A record, with its node if the source is an archive.
pub(in crate::commands) struct NodeRow {
    pub(in crate::commands) row: Row,
    pub(in crate::commands) node: Option<String>,
}

impl From<Row> for NodeRow {
    fn from(row: Row) -> NodeRow {
        NodeRow { row, node: None }
    }
}

/// The last sequence number of each node. The key of a single ledger is empty.
pub(super) type LastNumbers = BTreeMap<String, i64>;

impl RecordReader {
    /// Opens the archive if `--postgres` is given, otherwise the ledger.
    pub(in crate::commands) fn open(place: &RecordLocation) -> Result<RecordReader, Complaint> {
        if let Some(url) = &place.postgres {
            return RecordReader::archive(place, url.as_deref());
        }
        let folder = folder(&place.ledger)?;
        let file = StateFile::ledger(&folder);
        let opened = if file.is_there()? { LedgerReader::open(&folder) } else { Ok(None) };
        match opened {
            Ok(Some(reading)) => Ok(RecordReader::Ledger(reading, file)),
            Ok(None) => Err(Complaint::new(
                format!("there is no ledger in {}", folder.display()),
                "start a server once, or name the folder: --data-dir DIR",
            )),
            Err(fault) => Err(file.unreadable(&fault)),
        }
    }

    #[cfg(feature = "postgres")]
    fn archive(place: &RecordLocation, url: Option<&str>) -> Result<RecordReader, Complaint> {
        OpenArchive::open(place, url).map(|archived| RecordReader::Archive(Box::new(archived)))
    }

    #[cfg(not(feature = "postgres"))]
    fn archive(_place: &RecordLocation, _url: Option<&str>) -> Result<RecordReader, Complaint> {
        Err(crate::parts::POSTGRES.complaint("--postgres"))
    }

    fn unreadable(&self, fault: &Fault) -> Complaint {
        match self {
            RecordReader::Ledger(_, file) => file.unreadable(fault),
            #[cfg(feature = "postgres")]
            RecordReader::Archive(_) => serve::unexpected(fault),
        }
    }

    pub(in crate::commands) fn find(&mut self, reference: &str) -> Result<Option<NodeRow>, Complaint> {
        let found = match self {
            RecordReader::Ledger(reading, _) => reading.find(reference).map(|row| row.map(NodeRow::from)),
            #[cfg(feature = "postgres")]
            RecordReader::Archive(archived) => archived.find(reference),
        };
        found.map_err(|fault| self.unreadable(&fault))
    }

    /// The matching records, oldest first.
    pub(super) fn select(&mut self, query: &Query) -> Result<Vec<NodeRow>, Complaint> {
        let found = match self {
            RecordReader::Ledger(reading, _) => {
                reading.select(query).map(|rows| rows.into_iter().map(NodeRow::from).collect())
            }
            #[cfg(feature = "postgres")]
            RecordReader::Archive(archived) => archived.select(query),
        };
        found.map_err(|fault| self.unreadable(&fault))
    }

    /// Passes each matching record to `each`, oldest first. `each` returns `false` to stop.
    pub(super) fn each(
        &mut self,
        query: &Query,
        mut each: impl FnMut(&NodeRow) -> bool,
    ) -> Result<(), Complaint> {
        let shown = match self {
            RecordReader::Ledger(reading, _) => reading.each(query, |row| each(&NodeRow::from(row.clone()))),
            #[cfg(feature = "postgres")]
            RecordReader::Archive(archived) => archived.each(query, each),
        };
        shown.map_err(|fault| self.unreadable(&fault))
    }

    /// The last sequence number of each node.
    pub(super) fn ends(&mut self) -> Result<LastNumbers, Complaint> {
        let ends = match self {
            RecordReader::Ledger(reading, _) => {
                reading.head().map(|head| LastNumbers::from([(String::new(), head.seq)]))
            }
            #[cfg(feature = "postgres")]
            RecordReader::Archive(archived) => archived.ends(),
        };
        ends.map_err(|fault| self.unreadable(&fault))
    }

    /// The matching records with a higher sequence number than `seen`.
    pub(super) fn since(&mut self, query: &Query, seen: &LastNumbers) -> Result<Vec<NodeRow>, Complaint> {
        match self {
            RecordReader::Ledger(..) => {
                let after = seen.values().next().copied();
                self.select(&Query { after, ..query.clone() })
            }
            #[cfg(feature = "postgres")]
            RecordReader::Archive(archived) => {
                archived.since(query, seen).map_err(|fault| serve::unexpected(&fault))
            }
        }
    }

    /// Verifies every hash chain. `known` is a chain head from an earlier run and belongs to one of them.
    pub(super) fn verify(
        &mut self,
        known: Option<ChainHead>,
    ) -> Result<Vec<(Option<String>, VerifyReport)>, Complaint> {
        let verified = match self {
            RecordReader::Ledger(reading, _) => verify(reading, known).map(|found| vec![(None, found)]),
            #[cfg(feature = "postgres")]
            RecordReader::Archive(archived) => archived.verify(known),
        };
        verified.map_err(|fault| self.unreadable(&fault))
    }

    /// The header line, if the format has one.
    pub(super) fn header(&self, format: Format) -> String {
        match self {
            RecordReader::Ledger(..) => format.header().to_owned(),
            #[cfg(feature = "postgres")]
            RecordReader::Archive(_) => format.header().replace('\n', ",node\n"),
        }
    }
}

impl NodeRow {
    /// The record in this format with its line break. A record of an archive includes its node.
    pub(in crate::commands) fn written(&self, format: Format) -> String {
        let text = self.row.written(format);
        let Some(node) = &self.node else { return text };
        match format {
            Format::Jsonl => format!("{{\"node\":\"{node}\",{}", text.strip_prefix('{').unwrap_or(&text)),
            Format::Csv => format!("{},{node}\n", text.trim_end_matches('\n')),
            Format::Text => format!("{node} {text}"),
        }
    }
}
