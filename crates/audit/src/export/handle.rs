use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::{ExportCounters, ExporterHealth};
use failwell_journal::Journal;

/// A handle to the exporter of one kind of data. Dropping the handle stops the exporter.
pub struct ExporterHandle {
    counters: Arc<ExportCounters>,
    requests: mpsc::Sender<FlushRequest>,
}

/// A request to export everything that is pending.
pub struct FlushRequest(SyncSender<()>);

impl FlushRequest {
    /// Completes the request, even if some data could not be exported.
    pub fn done(self) {
        // The requester may have timed out.
        let _ = self.0.try_send(());
    }
}

impl ExporterHandle {
    /// Returns the handle, its counters, and the receiver of flush requests.
    pub fn new(
        to: &'static str,
        journal: &Journal,
    ) -> (ExporterHandle, Arc<ExportCounters>, mpsc::Receiver<FlushRequest>) {
        let counters = Arc::new(ExportCounters::new(to, journal.clone()));
        let (requests, asked) = mpsc::channel(4);
        (ExporterHandle { counters: counters.clone(), requests }, counters, asked)
    }

    pub fn health(&self) -> ExporterHealth {
        self.counters.health()
    }

    /// Flushes all exporters together, for at most `patience`.
    pub fn flush(all: &[ExporterHandle], patience: Duration) {
        let until = Instant::now() + patience;
        let ask = |handle: &ExporterHandle| {
            let (done, wait) = std::sync::mpsc::sync_channel(1);
            handle.requests.try_send(FlushRequest(done)).ok().map(|()| wait)
        };
        for wait in all.iter().filter_map(ask).collect::<Vec<_>>() {
            let _ = wait.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
    }
}
