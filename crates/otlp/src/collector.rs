use std::time::Duration;

use bytes::Bytes;
use failwell_backoff::Backoff;
use failwell_connect::{HeadLines, Remote, Verb};
use failwell_fault::Fault;
use http::header::CONTENT_TYPE;

use crate::export_result::ExportResult;
use crate::settings::OtlpSettings;

const BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(30));

/// One endpoint of a collector.
#[derive(Debug)]
pub(crate) struct Collector {
    remote: Remote,
    timeout: Duration,
}

impl Collector {
    /// The endpoint `/v1/logs` or `/v1/traces`.
    pub(crate) fn at(settings: &OtlpSettings, path: &str) -> Result<Collector, Fault> {
        let url = format!("{}{path}", settings.url.trim_end_matches('/'));
        let remote = Remote::new(&url, &settings.headers, settings.trust.clone())?;
        Ok(Collector { remote, timeout: settings.timeout })
    }

    /// Makes one attempt.
    pub(crate) async fn export(&self, body: Bytes) -> ExportResult {
        let headers = HeadLines::new().with(CONTENT_TYPE.as_str(), "application/json");
        let attempt = async {
            match self.remote.send(Verb::Post, headers, body).await {
                Ok(response) => ExportResult::read(response).await,
                Err(why) => ExportResult::unsent(&why),
            }
        };
        tokio::time::timeout(self.timeout, attempt).await.unwrap_or_else(|_| ExportResult::late(self.timeout))
    }
}

/// The delay after consecutive failures: the back-off, or the collector's `Retry-After` if that is longer.
pub(crate) fn backoff(failures: u32, asked: Option<Duration>) -> Duration {
    asked.unwrap_or_default().max(BACKOFF.delay(failures))
}
