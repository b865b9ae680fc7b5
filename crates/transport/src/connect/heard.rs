use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{Response, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use super::events::Events;
use super::held::Held;
use super::idle::Idle;
use super::remote::Unheard;

/// How long the start of a body that is only kept for the operator may take.
const EXCERPT: Duration = Duration::from_millis(500);

/// The head of an answer, and its body still to be read. Dropped before the body ended, the connection is closed.
pub struct Heard {
    status: StatusCode,
    headers: HeaderMap,
    body: Incoming,
    held: Held,
    idle: Arc<Idle>,
}

/// What a body says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentKind {
    /// One JSON text.
    Json,
    /// A stream of events.
    Events,
    /// Anything else, or nothing said.
    Other,
}

impl Heard {
    pub(super) fn new(response: Response<Incoming>, held: Held, idle: Arc<Idle>) -> Heard {
        let (head, body) = response.into_parts();
        Heard { status: head.status, headers: head.headers, body, held, idle }
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// One header, when it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// What the body says it is.
    pub fn content(&self) -> ContentKind {
        let kind = self.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("application/json") {
            ContentKind::Json
        } else if kind.eq_ignore_ascii_case("text/event-stream") {
            ContentKind::Events
        } else {
            ContentKind::Other
        }
    }

    /// The whole body, at most `cap` bytes of it.
    pub async fn whole(mut self, cap: usize) -> Result<Bytes, Unheard> {
        if self.body.size_hint().lower() > cap as u64 {
            return Err(Unheard::TooLarge(cap));
        }
        let mut first = Bytes::new();
        let mut joined = BytesMut::new();
        while let Some(frame) = self.held.along(self.body.frame()).await {
            let Ok(data) = frame.map_err(Unheard::lost)?.into_data() else { continue };
            if first.len() + joined.len() + data.len() > cap {
                return Err(Unheard::TooLarge(cap));
            }
            // Most bodies come in one piece, which needs no copy.
            if first.is_empty() && joined.is_empty() {
                first = data;
            } else {
                if joined.is_empty() {
                    let rest = usize::try_from(self.body.size_hint().lower()).unwrap_or(0).min(cap);
                    joined.reserve(first.len() + data.len() + rest);
                    joined.extend_from_slice(&std::mem::take(&mut first));
                }
                joined.extend_from_slice(&data);
            }
        }
        self.idle.put(self.held);
        Ok(if joined.is_empty() { first } else { joined.freeze() })
    }

    /// The start of a body nobody will make sense of, for the operator.
    pub async fn excerpt(mut self, cap: usize) -> Bytes {
        let mut kept = BytesMut::new();
        let reading = async {
            while let Some(Ok(frame)) = self.held.along(self.body.frame()).await {
                let data = frame.into_data().unwrap_or_default();
                let fits = data.len().min(cap - kept.len());
                kept.extend_from_slice(data.get(..fits).unwrap_or_default());
                if kept.len() == cap {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(EXCERPT, reading).await;
        kept.freeze()
    }

    /// The body as events, each at most `cap` bytes.
    pub fn events(self, cap: usize) -> Events {
        Events::new(self.body, self.held, cap)
    }
}
