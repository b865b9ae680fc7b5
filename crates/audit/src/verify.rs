//! Whether the ledger is what was written.

use std::collections::BTreeMap;

use failwell_fault::{Fault, OrFault, reason};
use failwell_render::Moment;

use crate::chain::{Hash, Head};
use crate::line::{Event, Line};
use crate::read::{Reading, Row, row};
use crate::store::{head, pruned};

/// Breaks that are told at the most; more are counted.
const MOST: usize = 100;

/// What was found.
#[derive(Debug, Clone)]
pub struct Verified {
    /// Records that were looked at.
    pub records: u64,
    /// Where the chain begins: 1, or the record after the last that was removed for its age.
    pub first: i64,
    /// Where it ends. Kept elsewhere, it shows later whether the end was cut off.
    pub head: Head,
    /// Records that are not here because they were removed for their age first: from and to which.
    pub gaps: Vec<(i64, i64)>,
    /// Everything that is not as it was written, in order; at most a hundred.
    pub breaks: Vec<Break>,
    /// How many there are in all.
    pub total: u64,
}

/// One place at which the chain does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The record's number.
    pub seq: i64,
    /// Its reference, where it has one.
    pub reference: Option<String>,
    /// What is wrong, in words.
    pub what: String,
}

impl Verified {
    /// Whether everything is as it was written.
    pub fn holds(&self) -> bool {
        self.total == 0
    }

    fn broken(&mut self, seq: i64, reference: Option<String>, what: impl Into<String>) {
        self.total += 1;
        if self.breaks.len() < MOST {
            self.breaks.push(Break { seq, reference, what: what.into() });
        }
    }
}

/// Follows the chain from its beginning to its end, as of one moment. `known` is an end that was noted earlier:
/// the chain must still pass through it.
pub fn verify(reading: &Reading, known: Option<Head>) -> Result<Verified, Fault> {
    // One transaction: what a server adds meanwhile is not seen.
    let snapshot = reading.connection.unchecked_transaction().or_fault(&reason::AUDIT_FAILED)?;
    let beginning = pruned(&snapshot).or_fault(&reason::AUDIT_FAILED)?;
    let mut walk = Verifier::from(beginning, known);
    let mut select = snapshot
        .prepare("SELECT seq, at, hash, body, ref FROM record ORDER BY seq")
        .or_fault(&reason::AUDIT_FAILED)?;
    let mut rows = select.query([]).or_fault(&reason::AUDIT_FAILED)?;
    loop {
        match rows.next() {
            Ok(Some(next)) => walk.step(&row(next).or_fault(&reason::AUDIT_FAILED)?),
            Ok(None) => break,
            Err(error) => {
                let after = walk.last.seq;
                walk.found.broken(
                    after + 1,
                    None,
                    format!("the file cannot be read after record {after}: {error}"),
                );
                return Ok(walk.found);
            }
        }
    }
    Ok(walk.end(head(&snapshot).or_fault(&reason::AUDIT_FAILED)?))
}

/// Follows one chain, record by record, wherever it is kept.
pub struct Verifier {
    last: Head,
    beginning: Option<Head>,
    /// What records of the chain say was removed: the last record's number and hash.
    removed: BTreeMap<i64, Hash>,
    /// Whether a record says that the beginning was removed.
    attested: bool,
    known: Option<Head>,
    /// Whether the chain passed through the end noted earlier.
    passed: bool,
    found: Verified,
}

impl Verifier {
    fn from(beginning: Option<Head>, known: Option<Head>) -> Verifier {
        let start = beginning.unwrap_or_else(Head::genesis);
        let found = Verified {
            records: 0,
            first: start.seq + 1,
            head: start,
            gaps: Vec::new(),
            breaks: Vec::new(),
            total: 0,
        };
        Verifier {
            last: start,
            attested: beginning.is_none(),
            passed: known.is_none_or(|known| known.seq < start.seq || known == start),
            known,
            found,
            beginning,
            removed: BTreeMap::new(),
        }
    }

    /// Of a copy, which may lack what was removed before it could be copied: `removed` is what the chain's own records
    /// say about that.
    pub fn of_copy(removed: impl IntoIterator<Item = Head>, known: Option<Head>) -> Verifier {
        let removed = removed.into_iter().map(|head| (head.seq, head.hash)).collect();
        Verifier { removed, ..Verifier::from(None, known) }
    }

    /// Looks at the next record.
    pub fn step(&mut self, row: &Row) {
        let (seq, at, reference, body) = (row.head.seq, row.at, &row.reference, &row.body);
        let line: Line<'_> = serde_json::from_str(body).unwrap_or_default();
        let named = Some(line.reference.to_string()).filter(|name| !name.is_empty()).or(reference.clone());
        self.found.records += 1;
        self.gap(seq);
        let expected = self.last.hash.next(seq, body.as_bytes());
        // Where no hash could be read, the beginning's stands for it.
        let stored = Some(row.head.hash).filter(|hash| *hash != Hash::genesis());
        if stored != Some(expected) {
            let what = "its bytes, its place or the record before it are not what was written";
            self.found.broken(seq, named, what);
        } else if reference.as_deref() != line.has_failed().then_some(line.reference.as_ref())
            || Moment::from_unix_millis(at).to_string() != line.timestamp
        {
            self.found.broken(seq, named, "its columns do not say what the record says");
        }
        // Go on from what is stored, so that one change is told once.
        self.last = Head { seq, hash: stored.unwrap_or(expected) };
        self.passed |= self.known == Some(self.last);
        if let (Some(Event::Pruned { through, hash, .. }), Some(beginning)) =
            (line.event.as_deref(), self.beginning)
        {
            self.attested |= *through == beginning.seq && *hash == beginning.hash.to_string();
        }
    }

    fn gap(&mut self, seq: i64) {
        let expected = self.last.seq + 1;
        if let Some(hash) = self.removed.get(&(seq - 1)).filter(|_| seq > expected) {
            self.found.gaps.push((expected, seq - 1));
            self.last = Head { seq: seq - 1, hash: *hash };
            return;
        }
        match seq - expected {
            0 => {}
            1 => self.found.broken(expected, None, "it is missing"),
            more if more > 1 => {
                self.found.broken(expected, None, format!("records {expected} to {} are missing", seq - 1));
            }
            _ => self.found.broken(seq, None, "its number is out of order"),
        }
    }

    /// There are no more, and this is where the chain was noted to end.
    pub fn end(mut self, head: Head) -> Verified {
        self.found.head = self.last;
        if head.seq > self.last.seq {
            let (first, last) = (self.last.seq + 1, head.seq);
            self.found.broken(first, None, format!("the end is missing: records {first} to {last}"));
        } else if head != self.last {
            self.found.broken(self.last.seq, None, "the noted end of the chain is not its end");
        }
        if !self.attested {
            let first = self.found.first;
            let what =
                "records before it are missing, and no record says that they were removed for their age";
            self.found.broken(first, None, what);
        }
        if let Some(known) = self.known.filter(|_| !self.passed) {
            let what = if known.seq > self.last.seq {
                format!("the end is missing: the chain reached record {} once", known.seq)
            } else {
                "it is not the record it was when its hash was noted".to_owned()
            };
            self.found.broken(known.seq, None, what);
        }
        self.found
    }
}
