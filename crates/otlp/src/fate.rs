//! What a collector's answer means for what was sent.

use std::time::{Duration, SystemTime};

use failwell_fault::{Fault, reason};
use failwell_transport::{Heard, Unheard};
use serde::Deserialize;

/// How much of an answer is read.
const LARGEST_ANSWER: usize = 64 * 1024;
/// The longest a collector can make us stay away.
const LONGEST_REST: Duration = Duration::from_secs(300);

/// What became of a batch.
#[derive(Debug)]
pub(crate) enum Fate {
    /// It arrived; so many of it were refused.
    Taken { refused: u64, why: Option<Fault> },
    /// It may be taken later, at the earliest after this.
    Later { after: Option<Duration>, why: Fault },
    /// It is never taken as it is.
    Never(Fault),
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Answer {
    partial_success: Partial,
}

/// 64-bit numbers are texts, and some collectors write numbers all the same.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Partial {
    rejected_spans: Option<serde_json::Value>,
    rejected_log_records: Option<serde_json::Value>,
    error_message: String,
}

impl Fate {
    pub(crate) fn unsent(why: &Unheard) -> Fate {
        let mut text = why.to_string();
        let mut cause = std::error::Error::source(why);
        while let Some(inner) = cause {
            text.push_str(": ");
            text.push_str(&inner.to_string());
            cause = inner.source();
        }
        Fate::Later { after: None, why: failed(text) }
    }

    pub(crate) fn late(limit: Duration) -> Fate {
        Fate::Later { after: None, why: failed(format!("no answer within {} s", limit.as_secs_f64())) }
    }

    /// As <https://opentelemetry.io/docs/specs/otlp/#otlphttp-response> has it. What is wrong with us or with the
    /// address (401, 403, 404) is for the operator to put right, and worth waiting for.
    pub(crate) async fn of(heard: Heard) -> Fate {
        let status = heard.status();
        let after = heard.header("retry-after").and_then(wait);
        let body = heard.whole(LARGEST_ANSWER).await.unwrap_or_default();
        let why = || {
            failed(format!("the collector answered with status {status}"))
                .capture("answer", body.get(..1_024).unwrap_or(&body))
        };
        match status {
            200..=299 => taken(&body),
            400 | 413 | 415 | 422 => Fate::Never(why()),
            _ => Fate::Later { after, why: why() },
        }
    }
}

fn taken(body: &[u8]) -> Fate {
    let partial = serde_json::from_slice::<Answer>(body).unwrap_or_default().partial_success;
    let number = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    let refused = partial.rejected_spans.or(partial.rejected_log_records).and_then(number).unwrap_or(0);
    let why = (refused > 0).then(|| {
        failed(format!("the collector refused {refused} of a batch")).capture("answer", partial.error_message)
    });
    Fate::Taken { refused, why }
}

/// `Retry-After`: seconds, or a date.
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
    use super::{Fate, taken, wait};
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
            let Fate::Taken { refused, why } = taken(body.as_bytes()) else { panic!("{body}") };
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
