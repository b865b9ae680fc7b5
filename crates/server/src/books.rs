//! What is written down: the journal, the ledger and the numbers. Houses of one program share them.

use std::sync::Arc;

use std::time::Duration;

use failwell_audit::{Carrier, CarrierHealth, Journal, Ledger, Redactor, Tracer};
use failwell_fault::Fault;

use crate::metrics::{Besides, Metrics, Sightings};
use crate::numbers::Numbers;
use crate::operations::Operations;

/// The books of one program.
#[derive(Clone)]
pub struct Books {
    journal: Journal,
    ledger: Option<Ledger>,
    metrics: Arc<Metrics>,
    tracer: Option<Tracer>,
    carriers: Vec<Arc<dyn Carrier>>,
    operations: Operations,
}

/// How long what is carried elsewhere may hold up the end.
const FAREWELL: Duration = Duration::from_secs(5);

impl std::fmt::Debug for Books {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Books").field("ledger", &self.ledger).finish_non_exhaustive()
    }
}

impl From<Journal> for Books {
    fn from(journal: Journal) -> Books {
        let (carriers, operations) = (Vec::new(), Operations::default());
        Books { journal, ledger: None, metrics: Arc::default(), tracer: None, carriers, operations }
    }
}

impl Books {
    /// Every exchange goes into this ledger too.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Books {
        self.ledger = Some(ledger);
        self
    }

    /// Every exchange is a step of a trace.
    #[must_use]
    pub fn with_tracer(mut self, tracer: Tracer) -> Books {
        self.tracer = Some(tracer);
        self
    }

    /// This carries some of it elsewhere.
    #[must_use]
    pub fn with_carrier(mut self, carrier: Arc<dyn Carrier>) -> Books {
        self.carriers.push(carrier);
        self
    }

    /// What happened lately; filled by whoever keeps the ledger, with [`Operations::sink`].
    pub fn operations(&self) -> &Operations {
        &self.operations
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

    /// Where steps of traces go, if they are kept.
    pub fn tracer(&self) -> Option<&Tracer> {
        self.tracer.as_ref()
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
        // At once: none of them may use up the time of the others.
        std::thread::scope(|together| {
            for carrier in &self.carriers {
                together.spawn(|| carrier.flush(FAREWELL));
            }
        });
        self.journal.flush();
    }

    /// Writes the numbers so far.
    pub(crate) fn write_numbers(&self, out: &mut Numbers, limiter_buckets: usize, sightings: &Sightings) {
        let health = self.ledger.as_ref().map(Ledger::health);
        let carried: Vec<CarrierHealth> = self.carriers.iter().flat_map(|carrier| carrier.health()).collect();
        let journal_lost = self.journal.lost();
        let ledger = health.as_ref();
        self.metrics
            .write(out, &Besides { journal_lost, ledger, limiter_buckets, sightings, carried: &carried });
    }
}
