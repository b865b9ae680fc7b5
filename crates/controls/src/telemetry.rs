//! Journal, ledger, metrics, traces and exporters. The pipelines of one program share them.

pub(crate) mod metrics;
pub(crate) mod operations;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use failwell_audit::{Exporter, ExporterHealth, Ledger};
use failwell_fault::ReasonRegistry;
use failwell_journal::Journal;
use failwell_pipeline::{Recorder, Tracer};
use failwell_toolbox::MetricsText;

use crate::telemetry::metrics::{GuardCounts, write_exporters, write_ledger};
use crate::telemetry::operations::Operations;

/// The telemetry of one program. Clones share its state.
#[derive(Clone)]
pub struct Telemetry {
    recorder: Recorder,
    ledger: Option<Ledger>,
    exporters: Vec<Arc<dyn Exporter>>,
    operations: Operations,
}

/// The maximum time that exporters delay the end of the program.
const FLUSH_LIMIT: Duration = Duration::from_secs(5);

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").field("ledger", &self.ledger).finish_non_exhaustive()
    }
}

impl From<Journal> for Telemetry {
    fn from(journal: Journal) -> Telemetry {
        let operations = Operations::default();
        let recorder = Recorder::from(journal).with_observer(Arc::new(operations.clone()));
        Telemetry { recorder, ledger: None, exporters: Vec::new(), operations }
    }
}

impl Telemetry {
    /// Sets the reasons by which failures are counted; the default is the core's. This resets the counters.
    #[must_use]
    pub fn with_reasons(mut self, reasons: ReasonRegistry) -> Telemetry {
        self.recorder = self.recorder.with_reasons(reasons);
        self
    }

    /// Sets the ledger that records every exchange.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Telemetry {
        self.recorder = self.recorder.with_ledger(Arc::new(ledger.clone()));
        self.ledger = Some(ledger);
        self
    }

    /// Sets the tracer, so that every exchange becomes a span.
    #[must_use]
    pub fn with_tracer(mut self, tracer: Tracer) -> Telemetry {
        self.recorder = self.recorder.with_tracer(tracer);
        self
    }

    #[must_use]
    pub fn with_exporter(mut self, exporter: Arc<dyn Exporter>) -> Telemetry {
        self.exporters.push(exporter);
        self
    }

    /// Recent and running operations. The ledger fills them through [`Operations::sink`].
    pub fn operations(&self) -> &Operations {
        &self.operations
    }

    /// The recorder of the pipelines.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_ref()
    }

    /// Waits for all writes, for a bounded time.
    pub fn flush(&self) {
        if let Some(ledger) = &self.ledger {
            ledger.flush();
        }
        // In parallel, so that no exporter uses up the time of another.
        std::thread::scope(|together| {
            for exporter in &self.exporters {
                together.spawn(|| exporter.flush(FLUSH_LIMIT));
            }
        });
        self.recorder.journal().flush();
    }

    /// Waits for all writes as [`Telemetry::flush`] does, and closes the ledger: the program ends.
    pub fn close(&self) {
        self.flush();
        if let Some(ledger) = &self.ledger {
            ledger.close();
        }
        self.recorder.journal().flush();
    }

    pub(crate) fn write_metrics(&self, out: &mut MetricsText, buckets: usize, guards: &GuardCounts) {
        guards.write(out);
        if let Some(ledger) = &self.ledger {
            write_ledger(out, &ledger.health());
        }
        let exporters: Vec<ExporterHealth> =
            self.exporters.iter().flat_map(|exporter| exporter.health()).collect();
        write_exporters(out, &exporters);
        out.single("failwell_limiter_buckets", "gauge", "Callers with a rate in memory.", buckets);
    }
}
