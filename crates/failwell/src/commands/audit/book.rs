//! The ledger of one node, or the copies of many in PostgreSQL: looked into the same way.

use std::collections::BTreeMap;

use failwell_audit::{Format, Head, Query, Reading, Row, Verified, verify};
use failwell_fault::Fault;

#[cfg(feature = "postgres")]
use super::archived::Archived;
use super::folder;
use crate::cli::BookPlace;
#[cfg(feature = "postgres")]
use crate::commands::serve;
use crate::commands::state_file::StateFile;
use crate::complaint::Complaint;

/// What is looked into.
pub(in crate::commands) enum Book {
    Ledger(Reading, StateFile),
    #[cfg(feature = "postgres")]
    Archive(Box<Archived>),
}

/// A record, and whose it is where there are several nodes.
pub(in crate::commands) struct Found {
    pub(in crate::commands) row: Row,
    pub(in crate::commands) node: Option<String>,
}

impl From<Row> for Found {
    fn from(row: Row) -> Found {
        Found { row, node: None }
    }
}

/// The last number of each node; a ledger alone has no name.
pub(super) type Seen = BTreeMap<String, i64>;

impl Book {
    /// The one that was asked for.
    pub(in crate::commands) fn open(place: &BookPlace) -> Result<Book, Complaint> {
        if let Some(url) = &place.postgres {
            return Book::archive(place, url.as_deref());
        }
        let folder = folder(&place.ledger)?;
        let file = StateFile::ledger(&folder);
        let opened = if file.is_there()? { Reading::open(&folder) } else { Ok(None) };
        match opened {
            Ok(Some(reading)) => Ok(Book::Ledger(reading, file)),
            Ok(None) => Err(Complaint::new(
                format!("there is no ledger in {}", folder.display()),
                "start a server once, or name the folder: --data-dir DIR",
            )),
            Err(fault) => Err(file.unreadable(&fault)),
        }
    }

    #[cfg(feature = "postgres")]
    fn archive(place: &BookPlace, url: Option<&str>) -> Result<Book, Complaint> {
        Archived::open(place, url).map(|archived| Book::Archive(Box::new(archived)))
    }

    #[cfg(not(feature = "postgres"))]
    fn archive(_place: &BookPlace, _url: Option<&str>) -> Result<Book, Complaint> {
        Err(Complaint::new(
            "this program was built without PostgreSQL",
            "build it with the feature `postgres`, or leave --postgres out",
        ))
    }

    fn unreadable(&self, fault: &Fault) -> Complaint {
        match self {
            Book::Ledger(_, file) => file.unreadable(fault),
            #[cfg(feature = "postgres")]
            Book::Archive(_) => serve::unexpected(fault),
        }
    }

    /// The record of a reference.
    pub(in crate::commands) fn find(&mut self, reference: &str) -> Result<Option<Found>, Complaint> {
        let found = match self {
            Book::Ledger(reading, _) => reading.find(reference).map(|row| row.map(Found::from)),
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.find(reference),
        };
        found.map_err(|fault| self.unreadable(&fault))
    }

    /// What fits, oldest first.
    pub(super) fn select(&mut self, query: &Query) -> Result<Vec<Found>, Complaint> {
        let found = match self {
            Book::Ledger(reading, _) => {
                reading.select(query).map(|rows| rows.into_iter().map(Found::from).collect())
            }
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.select(query),
        };
        found.map_err(|fault| self.unreadable(&fault))
    }

    /// Shows everything that fits to `each`, oldest first.
    pub(super) fn each(
        &mut self,
        query: &Query,
        mut each: impl FnMut(&Found) -> bool,
    ) -> Result<(), Complaint> {
        let shown = match self {
            Book::Ledger(reading, _) => reading.each(query, |row| each(&Found::from(row.clone()))),
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.each(query, each),
        };
        shown.map_err(|fault| self.unreadable(&fault))
    }

    /// How far each node is.
    pub(super) fn ends(&mut self) -> Result<Seen, Complaint> {
        let ends = match self {
            Book::Ledger(reading, _) => reading.head().map(|head| Seen::from([(String::new(), head.seq)])),
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.ends(),
        };
        ends.map_err(|fault| self.unreadable(&fault))
    }

    /// What fits and came after that.
    pub(super) fn since(&mut self, query: &Query, seen: &Seen) -> Result<Vec<Found>, Complaint> {
        match self {
            Book::Ledger(..) => {
                let after = seen.values().next().copied();
                self.select(&Query { after, ..query.clone() })
            }
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.since(query, seen).map_err(|fault| serve::unexpected(&fault)),
        }
    }

    /// Follows every chain. An end noted earlier belongs to one of them.
    pub(super) fn verify(
        &mut self,
        known: Option<Head>,
    ) -> Result<Vec<(Option<String>, Verified)>, Complaint> {
        let verified = match self {
            Book::Ledger(reading, _) => verify(reading, known).map(|found| vec![(None, found)]),
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.verify(known),
        };
        verified.map_err(|fault| self.unreadable(&fault))
    }

    /// What stands before the first record.
    pub(super) fn header(&self, format: Format) -> String {
        match self {
            Book::Ledger(..) => format.header().to_owned(),
            #[cfg(feature = "postgres")]
            Book::Archive(_) => format.header().replace('\n', ",node\n"),
        }
    }
}

impl Found {
    /// The record as it is written out, with its line break, and with its node where there are several.
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
