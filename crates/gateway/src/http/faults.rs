//! What a caller learns when an exchange went wrong. The upstream's own words are for the operator alone.

use std::time::{Duration, SystemTime};

use failwell_fault::{Effect, Fault, Retry, reason};
use failwell_transport::{Heard, Unheard};

use super::Peer;
use crate::door::Unsaid;

/// How much of a body is kept for the operator.
const EXCERPT: usize = 4_096;
/// The longest an upstream can make callers wait.
const LONGEST_WAIT: Duration = Duration::from_secs(3_600);

impl Peer {
    /// The fault for a message that was not sent, or not answered.
    pub(super) fn unsaid(&self, why: Unsaid) -> Fault {
        match why {
            Unsaid::NoToken(fault) => fault,
            Unsaid::Unheard(why) => self.unheard(why),
        }
    }

    /// The fault for a request without an answer. When it never left, the upstream has to be found again.
    pub(super) fn unheard(&self, why: Unheard) -> Fault {
        match &why {
            Unheard::NotSent(_) => {
                self.lose();
                Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).because(why)
            }
            Unheard::Lost(_) => {
                Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).with_effect(Effect::Unknown).because(why)
            }
            Unheard::TooLarge(limit) => {
                let limit = *limit;
                Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED)
                    .fact("limit", limit)
                    .with_effect(Effect::Unknown)
                    .because(why)
            }
        }
    }
}

/// Our credentials are not good enough, which no caller can help. Nothing was done.
pub(crate) async fn refused(heard: Heard) -> Fault {
    let status = heard.status();
    Fault::new(&reason::GATEWAY_UPSTREAM_DOWN)
        .fact("status", status)
        .capture("answer", heard.excerpt(EXCERPT).await)
}

/// Too much was asked of it. Nothing was done.
pub(crate) async fn busy(heard: Heard) -> Fault {
    let wait = retry_after(&heard);
    let fault = refused(heard).await;
    match wait {
        Some(wait) => fault.retry_as(Retry::After(wait)),
        None => fault,
    }
}

/// A body that is neither JSON nor events.
pub(super) async fn nonsense(heard: Heard) -> Fault {
    let status = heard.status();
    let kind = heard.header("content-type").unwrap_or("nothing").to_owned();
    garbled_with(status, &heard.excerpt(EXCERPT).await).note("content type", kind)
}

/// An answer under an error status with nothing of JSON-RPC in it.
pub(crate) fn bad_status(status: u16, wait: Option<Duration>, body: &[u8]) -> Fault {
    let fault = match status {
        // Said by whoever stands in front of a server that is not there.
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

/// What `Retry-After` says, in seconds or as a date.
pub(crate) fn retry_after(heard: &Heard) -> Option<Duration> {
    let said = heard.header("retry-after")?.trim();
    let wait = match said.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let until = httpdate::parse_http_date(said).ok()?;
            until.duration_since(SystemTime::now()).unwrap_or_default()
        }
    };
    Some(wait.min(LONGEST_WAIT))
}
