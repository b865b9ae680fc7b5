use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use failwell_audit::{
    ExportCounters, Exporter, ExporterHandle, ExporterHealth, FlushRequest, LedgerFollower, WriteSignal,
};
use failwell_fault::{Fault, OrFault, reason};
use failwell_journal::Journal;
use failwell_pipeline::Spans;
use tokio::sync::mpsc;

use crate::collector::Collector;
use crate::log_exporter::LogExporter;
use crate::settings::{OtlpSettings, Signal};
use crate::span_exporter::SpanExporter;

/// The metric labels of this exporter.
const LOGS: &str = "otlp_logs";
const SPANS: &str = "otlp_spans";

/// A handle to the export thread. The thread ends when the handle is dropped.
pub struct OtlpExporter {
    ways: Vec<ExporterHandle>,
    /// Number of spans that did not fit into the queue.
    unfit: Option<Arc<AtomicU64>>,
}

impl OtlpExporter {
    /// Starts the export of spans from the queue and of records from the ledger. The ledger triggers the
    /// returned signal.
    pub fn start(
        settings: OtlpSettings,
        spans: Option<Spans>,
        journal: Journal,
    ) -> Result<(OtlpExporter, Option<WriteSignal>), Fault> {
        let (mut otlp, mut signal) = (OtlpExporter { ways: Vec::new(), unfit: None }, None);
        let (mut logs, mut steps) = (None, None);
        if settings.logs == Signal::Yes {
            let (follower, rings) = LedgerFollower::new(&settings.folder);
            let (counters, flushes) = otlp.way(LOGS, &journal);
            logs = Some(LogExporter {
                collector: Collector::at(&settings, "/v1/logs")?,
                follower,
                folder: settings.folder.clone(),
                counters,
                flushes,
                most: settings.batch,
                service: settings.service,
                reasons: settings.reasons.clone(),
            });
            signal = Some(rings);
        }
        if let Some(spans) = spans {
            otlp.unfit = Some(spans.dropped.clone());
            let (counters, flushes) = otlp.way(SPANS, &journal);
            steps = Some(SpanExporter {
                collector: Collector::at(&settings, "/v1/traces")?,
                spans,
                counters,
                flushes,
                most: settings.batch,
                budget: settings.budget,
                service: settings.service,
                node: String::new(),
                redactor: settings.redactor.clone(),
            });
        }
        begin(settings, logs, steps)?;
        Ok((otlp, signal))
    }

    fn way(
        &mut self,
        to: &'static str,
        journal: &Journal,
    ) -> (Arc<ExportCounters>, mpsc::Receiver<FlushRequest>) {
        let (way, counters, asked) = ExporterHandle::new(to, journal);
        self.ways.push(way);
        (counters, asked)
    }
}

/// Runs a thread with its own runtime, so that the load of the request pipeline does not delay the export.
fn begin(
    settings: OtlpSettings,
    logs: Option<LogExporter>,
    steps: Option<SpanExporter>,
) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .or_fault(&reason::AUDIT_NOT_CARRIED)?;
    let thread = std::thread::Builder::new().name("otlp".to_owned());
    let started = thread.spawn(move || runtime.block_on(carry(settings, logs, steps)));
    started.map(|_| ()).or_fault(&reason::AUDIT_NOT_CARRIED)
}

async fn carry(settings: OtlpSettings, logs: Option<LogExporter>, steps: Option<SpanExporter>) {
    let steps = async {
        if let Some(mut steps) = steps {
            steps.node = node(&settings).await;
            steps.run().await;
        }
    };
    let logs = async {
        if let Some(logs) = logs {
            logs.run().await;
        }
    };
    tokio::join!(steps, logs);
}

/// The id of the ledger's chain, which distinguishes nodes. Empty if the ledger has none within two seconds.
async fn node(settings: &OtlpSettings) -> String {
    let (mut follower, _) = LedgerFollower::new(&settings.folder);
    for _ in 0..20 {
        if let Ok(Some(node)) = follower.node() {
            return node;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    String::new()
}

impl Exporter for OtlpExporter {
    fn health(&self) -> Vec<ExporterHealth> {
        let row = |way: &ExporterHandle| {
            let health = way.health();
            let unfit = match (&self.unfit, health.to) {
                (Some(counter), SPANS) => counter.load(Ordering::Relaxed),
                _ => 0,
            };
            ExporterHealth { dropped: health.dropped + unfit, ..health }
        };
        self.ways.iter().map(row).collect()
    }

    fn flush(&self, patience: Duration) {
        ExporterHandle::flush(&self.ways, patience);
    }
}
