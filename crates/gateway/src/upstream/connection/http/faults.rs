//! Faults of HTTP exchanges. Response bodies are captured for the operator only.

use std::time::{Duration, SystemTime};

use failwell_connect::{HttpResponse, SendError};
use failwell_fault::{Effect, Fault, Retry, reason};

use super::StreamableHttp;
use crate::upstream::connection::endpoint::UpstreamSendError;

const EXCERPT: usize = 4_096;
/// The upper bound of `Retry-After`.
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);

impl StreamableHttp {
    pub(super) fn send_fault(&self, why: UpstreamSendError) -> Fault {
        match why {
            UpstreamSendError::NoToken(fault) => fault,
            UpstreamSendError::Transport(why) => self.transport_fault(why),
        }
    }

    /// The fault for a request without a response. If it was never sent, the connection is reopened.
    pub(super) fn transport_fault(&self, why: SendError) -> Fault {
        match &why {
            SendError::NotSent(_) => {
                self.mark_lost();
                Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).because(why)
            }
            SendError::Lost(_) => {
                Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).with_effect(Effect::Unknown).because(why)
            }
            SendError::TooLarge(limit) => {
                let limit = *limit;
                Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED)
                    .fact("limit", limit)
                    .with_effect(Effect::Unknown)
                    .because(why)
            }
        }
    }
}

/// The upstream rejected the gateway's credentials. The request had no effect.
pub(crate) async fn refused(response: HttpResponse) -> Fault {
    let status = response.status();
    Fault::new(&reason::GATEWAY_UPSTREAM_DOWN)
        .fact("status", status)
        .capture("answer", response.excerpt(EXCERPT).await)
}

/// The upstream is rate limiting. The request had no effect.
pub(crate) async fn busy(response: HttpResponse) -> Fault {
    let wait = retry_after(&response);
    let fault = refused(response).await;
    match wait {
        Some(wait) => fault.retry_as(Retry::After(wait)),
        None => fault,
    }
}

pub(super) async fn unexpected_body(response: HttpResponse) -> Fault {
    let status = response.status();
    let kind = response.header("content-type").unwrap_or("nothing").to_owned();
    garbled_with(status, &response.excerpt(EXCERPT).await).note("content type", kind)
}

/// An error status without a JSON-RPC body.
pub(crate) fn bad_status(status: u16, wait: Option<Duration>, body: &[u8]) -> Fault {
    let fault = match status {
        // Sent by a proxy whose backend is down.
        502..=504 => Fault::new(&reason::GATEWAY_UPSTREAM_DOWN)
            .fact("status", status)
            .with_effect(Effect::Unknown)
            .capture("answer", excerpt(body)),
        _ => garbled_with(status, body),
    };
    match wait {
        Some(wait) => fault.retry_as(Retry::After(wait)),
        None => fault,
    }
}

fn garbled_with(status: u16, body: &[u8]) -> Fault {
    Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED)
        .fact("status", status)
        .with_effect(Effect::Unknown)
        .capture("answer", excerpt(body))
}

fn excerpt(body: &[u8]) -> &[u8] {
    body.get(..EXCERPT).unwrap_or(body)
}

/// `Retry-After`, in seconds or as a date.
pub(crate) fn retry_after(response: &HttpResponse) -> Option<Duration> {
    let value = response.header("retry-after")?.trim();
    let wait = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let until = httpdate::parse_http_date(value).ok()?;
            until.duration_since(SystemTime::now()).unwrap_or_default()
        }
    };
    Some(wait.min(LONGEST_WAIT))
}
