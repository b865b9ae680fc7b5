//! Interprets the response of a collector.

use std::time::{Duration, SystemTime};

use failwell_connect::{HttpResponse, SendError};
use failwell_fault::{Fault, reason};
use serde::Deserialize;

/// Maximum bytes of a response.
const LARGEST_ANSWER: usize = 64 * 1024;
/// Maximum delay that a collector can request.
const LONGEST_REST: Duration = Duration::from_secs(300);

/// The result of sending a batch.
#[derive(Debug)]
pub(crate) enum ExportResult {
    /// The batch arrived; `refused` items of it were rejected.
    Accepted { refused: u64, why: Option<Fault> },
    /// The batch can be retried, after the given delay at the earliest.
    Retry { after: Option<Duration>, why: Fault },
    /// The batch would be rejected again.
    Rejected(Fault),
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct CollectorResponse {
    partial_success: PartialSuccess,
}

/// OTLP encodes 64-bit integers as strings, but some collectors send numbers.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PartialSuccess {
    rejected_spans: Option<serde_json::Value>,
    rejected_log_records: Option<serde_json::Value>,
    error_message: String,
}

impl ExportResult {
    pub(crate) fn unsent(why: &SendError) -> ExportResult {
        let mut text = why.to_string();
        let mut cause = std::error::Error::source(why);
        while let Some(inner) = cause {
            text.push_str(": ");
            text.push_str(&inner.to_string());
            cause = inner.source();
        }
        ExportResult::Retry { after: None, why: failed(text) }
    }

    pub(crate) fn late(limit: Duration) -> ExportResult {
        ExportResult::Retry {
            after: None,
            why: failed(format!("no answer within {} s", limit.as_secs_f64())),
        }
    }

    /// Follows <https://opentelemetry.io/docs/specs/otlp/#otlphttp-response>. For 401, 403 and 404 the batch
    /// is retried, because the operator can correct the configuration.
    pub(crate) async fn read(response: HttpResponse) -> ExportResult {
        let status = response.status();
        let after = response.header("retry-after").and_then(wait);
        let body = response.whole(LARGEST_ANSWER).await.unwrap_or_default();
        let why = || {
            failed(format!("the collector answered with status {status}"))
                .capture("answer", body.get(..1_024).unwrap_or(&body))
        };
        match status {
            200..=299 => taken(&body),
            400 | 413 | 415 | 422 => ExportResult::Rejected(why()),
            _ => ExportResult::Retry { after, why: why() },
        }
    }
}

fn taken(body: &[u8]) -> ExportResult {
    let partial = serde_json::from_slice::<CollectorResponse>(body).unwrap_or_default().partial_success;
    let number = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    let refused = partial.rejected_spans.or(partial.rejected_log_records).and_then(number).unwrap_or(0);
    let why = (refused > 0).then(|| {
        failed(format!("the collector refused {refused} of a batch")).capture("answer", partial.error_message)
    });
    ExportResult::Accepted { refused, why }
}

/// Reads `Retry-After`: seconds or a date.
fn wait(value: &str) -> Option<Duration> {
    let seconds = value.trim().parse().map(Duration::from_secs).ok();
    let until = || httpdate::parse_http_date(value.trim()).ok()?.duration_since(SystemTime::now()).ok();
    seconds.or_else(until).map(|wait| wait.min(LONGEST_REST))
}

pub(crate) fn failed(why: impl Into<String>) -> Fault {
    Fault::new(&reason::AUDIT_NOT_CARRIED).note("why", why.into())
}

#[cfg(test)]
mod tests {
    use super::{ExportResult, taken, wait};
    use std::time::Duration;

    #[test]
    fn what_a_collector_refuses_is_counted_however_it_writes_numbers() {
        for (body, expected) in [
            ("", 0),
            ("{}", 0),
            (r#"{"partialSuccess":{}}"#, 0),
            (r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}"#, 3),
            (r#"{"partialSuccess":{"rejectedLogRecords":4}}"#, 4),
            ("nonsense", 0),
        ] {
            let ExportResult::Accepted { refused, why } = taken(body.as_bytes()) else { panic!("{body}") };
            assert_eq!((refused, why.is_some()), (expected, expected > 0), "{body}");
        }
    }

    #[test]
    fn a_collector_says_when_to_come_back_within_reason() {
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("999999"), Some(Duration::from_secs(300)));
        assert_eq!(wait("Thu, 01 Jan 1970 00:00:00 GMT"), None);
        assert_eq!(wait("soon"), None);
    }
}
