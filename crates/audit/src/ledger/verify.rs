//! Verifies the hash chain of a ledger.

use std::collections::{BTreeMap, BTreeSet};

use failwell_fault::{Fault, OrFault, reason};
use failwell_render::Moment;

use crate::ledger::chain::{ChainHead, RecordHash};
use crate::ledger::file::{RecordClass, gaps, head, pruned, removed};
use crate::ledger::reader::{LedgerReader, Row, row};
use crate::ledger::record_line::{Event, RecordLine, RemovedRange};

/// Maximum number of breaks listed in a report; further ones are only counted.
const MOST: usize = 100;

#[derive(Debug, Clone)]
pub struct VerifyReport {
    /// Number of verified records.
    pub records: u64,
    /// The first record of the chain: 1, or the record after the last removed one.
    pub first: i64,
    /// The end of the chain. A copy stored elsewhere reveals a later truncation.
    pub head: ChainHead,
    /// Ranges of records that retention removed before they were copied.
    pub gaps: Vec<(i64, i64)>,
    /// What retention removed in all.
    pub removed: Vec<Removal>,
    /// The first hundred breaks, in order.
    pub breaks: Vec<ChainBreak>,
    /// The number of all breaks.
    pub total: u64,
}

/// What retention removed of one class of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// `records`, `refusals` or `events`.
    pub class: &'static str,
    pub records: u64,
    /// The time of the last one; absent if an older version of the program removed it.
    pub until: Option<String>,
}

/// A record at which the chain does not verify.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainBreak {
    pub seq: i64,
    pub reference: Option<String>,
    /// A description of the break.
    pub what: String,
}

impl VerifyReport {
    /// Returns true if the chain has no break.
    pub fn holds(&self) -> bool {
        self.total == 0
    }

    fn broken(&mut self, seq: i64, reference: Option<String>, what: impl Into<String>) {
        self.total += 1;
        if self.breaks.len() < MOST {
            self.breaks.push(ChainBreak { seq, reference, what: what.into() });
        }
    }
}

/// Verifies the chain from its beginning to its end. `known` is a head noted earlier; the chain must contain
/// it.
pub fn verify(reading: &LedgerReader, known: Option<ChainHead>) -> Result<VerifyReport, Fault> {
    // One transaction: records that a server appends meanwhile are invisible.
    let snapshot = reading.connection.unchecked_transaction().or_fault(&reason::AUDIT_FAILED)?;
    let beginning = pruned(&snapshot).or_fault(&reason::AUDIT_FAILED)?;
    let holes = gaps(&snapshot).or_fault(&reason::AUDIT_FAILED)?;
    let missing: i64 = holes.iter().map(|hole| hole.last - hole.first + 1).sum();
    let mut walk = Verifier::from(beginning, known);
    walk.holes = holes.into_iter().map(|hole| (hole.first, hole)).collect();
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
    drop(rows);
    let mut found = walk.end(head(&snapshot).or_fault(&reason::AUDIT_FAILED)?);
    let counted = removed(&snapshot).or_fault(&reason::AUDIT_FAILED)?;
    let gone = beginning.map_or(0, |beginning| beginning.seq) + missing;
    let total = counted.iter().map(|(_, records, _)| records).sum::<i64>();
    if !counted.is_empty() && total != gone {
        let what = format!("the file says that {total} records were removed, but {gone} are");
        found.broken(found.first, None, what);
    }
    found.removed = counted.into_iter().map(Removal::new).collect();
    Ok(found)
}

impl Removal {
    fn new((class, records, until): (i64, i64, i64)) -> Removal {
        Removal {
            class: match class {
                class if class == RecordClass::Refusal as i64 => "refusals",
                class if class == RecordClass::Event as i64 => "events",
                _ => "records",
            },
            records: u64::try_from(records).unwrap_or(0),
            until: (until > 0).then(|| Moment::from_unix_millis(until).to_string()),
        }
    }
}

/// Verifies one chain record by record, in the ledger or in a copy.
pub struct Verifier {
    last: ChainHead,
    beginning: Option<ChainHead>,
    /// Removals that records of the chain attest: sequence number and hash of the last removed record.
    removed: BTreeMap<i64, RecordHash>,
    /// Ranges that the file says were removed, by their first record.
    holes: BTreeMap<i64, RemovedRange>,
    /// Ranges that were passed over, until a later record attests them.
    passed_over: BTreeSet<RemovedRange>,
    /// A record attests the removal of the beginning.
    attested: bool,
    known: Option<ChainHead>,
    /// The chain contains the known head.
    passed: bool,
    found: VerifyReport,
}

impl Verifier {
    fn from(beginning: Option<ChainHead>, known: Option<ChainHead>) -> Verifier {
        let start = beginning.unwrap_or_else(ChainHead::genesis);
        let found = VerifyReport {
            records: 0,
            first: start.seq + 1,
            head: start,
            gaps: Vec::new(),
            removed: Vec::new(),
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
            holes: BTreeMap::new(),
            passed_over: BTreeSet::new(),
        }
    }

    /// Verifies a copy. A copy may lack records that were removed before they were copied; `removed` lists
    /// the removals that the chain's own records attest.
    pub fn of_copy(removed: impl IntoIterator<Item = ChainHead>, known: Option<ChainHead>) -> Verifier {
        let removed = removed.into_iter().map(|head| (head.seq, head.hash)).collect();
        Verifier { removed, ..Verifier::from(None, known) }
    }

    pub fn step(&mut self, row: &Row) {
        let (seq, at, reference, body) = (row.head.seq, row.at, &row.reference, &row.body);
        let line: RecordLine<'_> = serde_json::from_str(body).unwrap_or_default();
        let named = Some(line.reference.to_string()).filter(|name| !name.is_empty()).or(reference.clone());
        self.found.records += 1;
        self.pass_over_holes(seq);
        self.gap(seq);
        let expected = self.last.hash.next(seq, body.as_bytes());
        // The reader returns the genesis hash if the stored hash is unreadable.
        let stored = Some(row.head.hash).filter(|hash| *hash != RecordHash::genesis());
        if stored != Some(expected) {
            let what = "its hash does not match its bytes, its position and the record before it";
            self.found.broken(seq, named, what);
        } else if reference.as_deref() != line.has_failed().then_some(line.reference.as_ref())
            || Moment::from_unix_millis(at).to_string() != line.timestamp
        {
            self.found.broken(seq, named, "its columns do not match its record");
        }
        // Continue from the stored hash, so that one change is reported once.
        self.last = ChainHead { seq, hash: stored.unwrap_or(expected) };
        self.passed |= self.known == Some(self.last);
        self.attest(line.event.as_deref());
    }

    fn attest(&mut self, event: Option<&Event>) {
        match (event, self.beginning) {
            (Some(Event::Pruned { through, hash, .. }), Some(beginning)) => {
                self.attested |= *through == beginning.seq && *hash == beginning.hash.to_string();
            }
            (Some(Event::RefusalsPruned { ranges, .. }), _) => {
                ranges.iter().for_each(|range| drop(self.passed_over.take(range)));
            }
            _ => {}
        }
    }

    /// Continues after removed ranges before this record, one after another.
    fn pass_over_holes(&mut self, seq: i64) {
        while let Some(hole) = self.holes.remove(&(self.last.seq + 1)).filter(|hole| hole.last < seq) {
            let Some(hash) = RecordHash::parse(&hole.hash) else { return };
            self.last = ChainHead { seq: hole.last, hash };
            self.passed |= self.known.is_some_and(|known| known.seq >= hole.first && known.seq <= hole.last);
            self.passed_over.insert(hole);
        }
    }

    fn gap(&mut self, seq: i64) {
        let expected = self.last.seq + 1;
        if let Some(hash) = self.removed.get(&(seq - 1)).filter(|_| seq > expected) {
            self.found.gaps.push((expected, seq - 1));
            self.last = ChainHead { seq: seq - 1, hash: *hash };
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

    /// Ends the verification. `head` is the recorded end of the chain.
    pub fn end(mut self, head: ChainHead) -> VerifyReport {
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
        for hole in std::mem::take(&mut self.passed_over) {
            let what = format!(
                "records {} to {} are missing, and no record says that they were removed",
                hole.first, hole.last
            );
            self.found.broken(hole.first, None, what);
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
