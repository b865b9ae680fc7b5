//! The telemetry of the pipelines of one program: journal, metrics, traces, and the ledger if there is one.

use std::fmt;
use std::sync::Arc;

use failwell_fault::{Fault, ReasonRegistry};
use failwell_journal::{Entry, Journal, Redactor};
use failwell_toolbox::MetricsText;

use crate::controls::record_sink::{ProgressObserver, RecordSink};
use crate::metrics::Metrics;
use crate::span::Tracer;

/// The recorder of one program. Clones share its state.
#[derive(Clone)]
pub struct Recorder {
    journal: Journal,
    reasons: ReasonRegistry,
    metrics: Arc<Metrics>,
    tracer: Option<Tracer>,
    ledger: Option<Arc<dyn RecordSink>>,
    observer: Option<Arc<dyn ProgressObserver>>,
}

impl From<Journal> for Recorder {
    fn from(journal: Journal) -> Recorder {
        let reasons = ReasonRegistry::core();
        let metrics = Arc::new(Metrics::new(&reasons));
        Recorder { journal, reasons, metrics, tracer: None, ledger: None, observer: None }
    }
}

impl Recorder {
    /// Sets the reasons by which failures are counted; the default is the core's. This resets the counters.
    #[must_use]
    pub fn with_reasons(mut self, reasons: ReasonRegistry) -> Recorder {
        self.metrics = Arc::new(Metrics::new(&reasons));
        self.reasons = reasons;
        self
    }

    /// Sets the ledger that records every exchange.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Arc<dyn RecordSink>) -> Recorder {
        self.ledger = Some(ledger);
        self
    }

    /// Sets the tracer, so that every exchange becomes a span.
    #[must_use]
    pub fn with_tracer(mut self, tracer: Tracer) -> Recorder {
        self.tracer = Some(tracer);
        self
    }

    /// Sets the observer of the progress of running requests.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn ProgressObserver>) -> Recorder {
        self.observer = Some(observer);
        self
    }

    /// Sets the redactor that removes secrets from every line of the journal.
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor) -> Recorder {
        self.journal = self.journal.redacting(redactor);
        self
    }

    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    pub fn reasons(&self) -> &ReasonRegistry {
        &self.reasons
    }

    /// The tracer, if tracing is on.
    pub fn tracer(&self) -> Option<&Tracer> {
        self.tracer.as_ref()
    }

    pub(crate) fn ledger(&self) -> Option<&dyn RecordSink> {
        self.ledger.as_deref()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The observer, if one is connected.
    pub(crate) fn observer(&self) -> Option<&dyn ProgressObserver> {
        self.observer.as_deref().filter(|observer| observer.is_watched())
    }

    /// Refuses work whose record could not be written, if records are mandatory.
    pub(crate) fn admit(&self) -> Result<(), Fault> {
        self.ledger().map_or(Ok(()), RecordSink::admit)
    }

    pub(crate) fn report(&self, entry: Entry) {
        self.metrics.fault(entry.fault.reason());
        self.journal.fault(entry);
    }

    pub(crate) fn write_metrics(&self, out: &mut MetricsText) {
        self.metrics.write(out, self.journal.lost());
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("journal", &self.journal).finish_non_exhaustive()
    }
}
