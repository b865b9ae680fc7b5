use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use failwell_audit::{Bell, Carrier, CarrierHealth, Following, Hurry, Journal, Spans, Tally, Way};
use failwell_fault::{Fault, OrFault, reason};
use tokio::sync::mpsc;

use crate::collector::Collector;
use crate::logs::LogCourier;
use crate::settings::{OtlpSettings, Wanted};
use crate::spans::SpanCourier;

/// What is carried where, as numbers are labelled.
const LOGS: &str = "otlp_logs";
const SPANS: &str = "otlp_spans";

/// A handle to the thread that carries. The thread ends with the last handle.
pub struct Otlp {
    ways: Vec<Way>,
    /// Spans that did not fit into the queue.
    unfit: Option<Arc<AtomicU64>>,
}

impl Otlp {
    /// Starts to carry: spans from the queue, and records from the ledger, which then rings the bell.
    pub fn start(
        settings: OtlpSettings,
        spans: Option<Spans>,
        journal: Journal,
    ) -> Result<(Otlp, Option<Bell>), Fault> {
        let (mut otlp, mut bell) = (Otlp { ways: Vec::new(), unfit: None }, None);
        let (mut logs, mut steps) = (None, None);
        if settings.logs == Wanted::Yes {
            let (following, rings) = Following::new(&settings.folder);
            let (tally, hurries) = otlp.way(LOGS, &journal);
            logs = Some(LogCourier {
                collector: Collector::at(&settings, "/v1/logs")?,
                following,
                folder: settings.folder.clone(),
                tally,
                hurries,
                most: settings.batch,
                service: settings.service,
            });
            bell = Some(rings);
        }
        if let Some(spans) = spans {
            otlp.unfit = Some(spans.dropped.clone());
            let (tally, hurries) = otlp.way(SPANS, &journal);
            steps = Some(SpanCourier {
                collector: Collector::at(&settings, "/v1/traces")?,
                spans,
                tally,
                hurries,
                most: settings.batch,
                budget: settings.budget,
                service: settings.service,
                node: String::new(),
                redactor: settings.redactor.clone(),
            });
        }
        begin(settings, logs, steps)?;
        Ok((otlp, bell))
    }

    fn way(&mut self, to: &'static str, journal: &Journal) -> (Arc<Tally>, mpsc::Receiver<Hurry>) {
        let (way, tally, asked) = Way::new(to, journal);
        self.ways.push(way);
        (tally, asked)
    }
}

/// One thread with a small runtime of its own: what carries must not depend on how busy the walk is.
fn begin(settings: OtlpSettings, logs: Option<LogCourier>, steps: Option<SpanCourier>) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .or_fault(&reason::AUDIT_NOT_CARRIED)?;
    let thread = std::thread::Builder::new().name("otlp".to_owned());
    let started = thread.spawn(move || runtime.block_on(carry(settings, logs, steps)));
    started.map(|_| ()).or_fault(&reason::AUDIT_NOT_CARRIED)
}

async fn carry(settings: OtlpSettings, logs: Option<LogCourier>, steps: Option<SpanCourier>) {
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

/// The name of the ledger's chain tells nodes apart. One that has none in time goes without.
async fn node(settings: &OtlpSettings) -> String {
    let (mut following, _) = Following::new(&settings.folder);
    for _ in 0..20 {
        if let Ok(Some(node)) = following.node() {
            return node;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    String::new()
}

impl Carrier for Otlp {
    fn health(&self) -> Vec<CarrierHealth> {
        let row = |way: &Way| {
            let health = way.health();
            let unfit = match (&self.unfit, health.to) {
                (Some(counter), SPANS) => counter.load(Ordering::Relaxed),
                _ => 0,
            };
            CarrierHealth { dropped: health.dropped + unfit, ..health }
        };
        self.ways.iter().map(row).collect()
    }

    fn flush(&self, patience: Duration) {
        Way::hurry(&self.ways, patience);
    }
}
