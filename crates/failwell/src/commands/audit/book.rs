//! The ledger of one node, or the copies of many in PostgreSQL: looked into the same way.

use std::collections::BTreeMap;

use failwell_audit::{Format, Head, Query, Reading, Row, Verified, verify};
use failwell_fault::Fault;

#[cfg(feature = "postgres")]
use super::archived::Archived;
use super::{folder, serve};
use crate::cli::BookPlace;
use crate::complaint::Complaint;

/// What is looked into.
pub(in crate::commands) enum Book {
    Ledger(Reading),
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
        match Reading::open(&folder) {
            Ok(Some(reading)) => Ok(Book::Ledger(reading)),
            Ok(None) => Err(Complaint::new(
                format!("there is no ledger in {}", folder.display()),
                "start a server once, or name the folder: --data-dir DIR",
            )),
            Err(fault) => Err(serve::unexpected(&fault)),
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

    /// The record of a reference.
    pub(in crate::commands) fn find(&mut self, reference: &str) -> Result<Option<Found>, Fault> {
        match self {
            Book::Ledger(reading) => Ok(reading.find(reference)?.map(Found::from)),
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.find(reference),
        }
    }

    /// What fits, oldest first.
    pub(super) fn select(&mut self, query: &Query) -> Result<Vec<Found>, Fault> {
        match self {
            Book::Ledger(reading) => Ok(reading.select(query)?.into_iter().map(Found::from).collect()),
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.select(query),
        }
    }

    /// Shows everything that fits to `each`, oldest first.
    pub(super) fn each(&mut self, query: &Query, mut each: impl FnMut(&Found) -> bool) -> Result<(), Fault> {
        match self {
            Book::Ledger(reading) => reading.each(query, |row| each(&Found::from(row.clone()))),
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.each(query, each),
        }
    }

    /// How far each node is.
    pub(super) fn ends(&mut self) -> Result<Seen, Fault> {
        match self {
            Book::Ledger(reading) => Ok(Seen::from([(String::new(), reading.head()?.seq)])),
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.ends(),
        }
    }

    /// What fits and came after that.
    pub(super) fn since(&mut self, query: &Query, seen: &Seen) -> Result<Vec<Found>, Fault> {
        match self {
            Book::Ledger(_) => {
                let after = seen.values().next().copied();
                self.select(&Query { after, ..query.clone() })
            }
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.since(query, seen),
        }
    }

    /// Follows every chain. An end noted earlier belongs to one of them.
    pub(super) fn verify(&mut self, known: Option<Head>) -> Result<Vec<(Option<String>, Verified)>, Fault> {
        match self {
            Book::Ledger(reading) => Ok(vec![(None, verify(reading, known)?)]),
            #[cfg(feature = "postgres")]
            Book::Archive(archived) => archived.verify(known),
        }
    }

    /// What stands before the first record.
    pub(super) fn header(&self, format: Format) -> String {
        match self {
            Book::Ledger(_) => format.header().to_owned(),
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
