//! What is written down: the journal, the ledger and the numbers. Houses of one program share them.

use std::sync::Arc;

use failwell_audit::{Journal, Ledger, Redactor};
use failwell_fault::Fault;

use crate::metrics::{Metrics, Sightings};

/// The books of one program.
#[derive(Debug, Clone)]
pub struct Books {
    journal: Journal,
    ledger: Option<Ledger>,
    metrics: Arc<Metrics>,
}

impl From<Journal> for Books {
    fn from(journal: Journal) -> Books {
        Books { journal, ledger: None, metrics: Arc::default() }
    }
}

impl Books {
    /// Every exchange goes into this ledger too.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Books {
        self.ledger = Some(ledger);
        self
    }

    /// The same books, with secrets taken out of every line of the journal.
    #[must_use]
    pub(crate) fn redacting(mut self, redactor: Redactor) -> Books {
        self.journal = self.journal.redacting(redactor);
        self
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The ledger, if one is kept.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Whether what comes in can be written down, where it must be.
    pub(crate) fn admit(&self) -> Result<(), Fault> {
        self.ledger.as_ref().map_or(Ok(()), Ledger::admit)
    }

    /// Waits, for a while at the most, until everything is written.
    pub fn flush(&self) {
        if let Some(ledger) = &self.ledger {
            ledger.flush();
        }
        self.journal.flush();
    }

    /// The numbers so far.
    pub(crate) fn numbers(&self, limiter_buckets: usize, sightings: &Sightings) -> String {
        let health = self.ledger.as_ref().map(Ledger::health);
        self.metrics.text(self.journal.lost(), health.as_ref(), limiter_buckets, sightings)
    }
}
