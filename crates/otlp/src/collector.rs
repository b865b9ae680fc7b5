use std::time::Duration;

use bytes::Bytes;
use failwell_fault::Fault;
use failwell_transport::{HeadLines, Remote, Verb};
use http::header::CONTENT_TYPE;

use crate::fate::Fate;
use crate::settings::OtlpSettings;

/// The first rest after a failure; then twice as long each time.
const FIRST_REST: Duration = Duration::from_millis(500);
/// The longest rest between two attempts.
const LONGEST_REST: Duration = Duration::from_secs(30);

/// One path of a collector.
#[derive(Debug)]
pub(crate) struct Collector {
    remote: Remote,
    timeout: Duration,
}

impl Collector {
    /// The collector's `/v1/logs` or `/v1/traces`.
    pub(crate) fn at(settings: &OtlpSettings, path: &str) -> Result<Collector, Fault> {
        let url = format!("{}{path}", settings.url.trim_end_matches('/'));
        let remote = Remote::new(&url, &settings.headers, settings.trust.clone())?;
        Ok(Collector { remote, timeout: settings.timeout })
    }

    /// One attempt.
    pub(crate) async fn offer(&self, body: Bytes) -> Fate {
        let headers = HeadLines::new().with(CONTENT_TYPE.as_str(), "application/json");
        let attempt = async {
            match self.remote.send(Verb::Post, headers, body).await {
                Ok(heard) => Fate::of(heard).await,
                Err(why) => Fate::unsent(&why),
            }
        };
        tokio::time::timeout(self.timeout, attempt).await.unwrap_or_else(|_| Fate::late(self.timeout))
    }
}

/// How long to rest, longer after every failure in a row, and as long as the collector asks for.
pub(crate) fn rest(failures: u32, asked: Option<Duration>) -> Duration {
    let doubled = FIRST_REST * 2u32.saturating_pow(failures.min(10).saturating_sub(1));
    asked.unwrap_or_default().max(doubled.min(LONGEST_REST))
}
