use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::events::EventStream;
use super::head::ResponseHead;
use super::idle::IdleConnections;
use super::remote::SendError;
use super::wire::Wire;

/// Maximum time to read an excerpt for the operator.
const EXCERPT: Duration = Duration::from_millis(500);

/// A response whose body is unread. Dropping it before the end of the body closes the connection.
pub struct HttpResponse {
    head: ResponseHead,
    wire: Box<Wire>,
    idle: Arc<IdleConnections>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentKind {
    Json,
    EventStream,
    /// Another type, or none.
    Other,
}

impl HttpResponse {
    pub(super) fn new(head: ResponseHead, wire: Box<Wire>, idle: Arc<IdleConnections>) -> HttpResponse {
        HttpResponse { head, wire, idle }
    }

    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// A header, if it is visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// The type in the `Content-Type` header.
    pub fn content(&self) -> ContentKind {
        let kind = self.header("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("application/json") {
            ContentKind::Json
        } else if kind.eq_ignore_ascii_case("text/event-stream") {
            ContentKind::EventStream
        } else {
            ContentKind::Other
        }
    }

    /// Reads the whole body, up to `cap` bytes.
    pub async fn whole(mut self, cap: usize) -> Result<Bytes, SendError> {
        let too_large = || SendError::TooLarge(cap);
        let whole = match self.wire.length() {
            Some(length) => {
                let length = usize::try_from(length).ok().filter(|length| *length <= cap);
                self.wire.all(length.ok_or_else(too_large)?).await?
            }
            None => self.joined(cap).await?,
        };
        self.idle.put(self.wire);
        Ok(whole)
    }

    /// Reads a body without a stated length.
    async fn joined(&mut self, cap: usize) -> Result<Bytes, SendError> {
        let (mut first, mut joined) = (Bytes::new(), BytesMut::new());
        while let Some(piece) = self.wire.piece().await? {
            if first.len() + joined.len() + piece.len() > cap {
                return Err(SendError::TooLarge(cap));
            }
            // A body in one piece needs no copy.
            if first.is_empty() && joined.is_empty() {
                first = piece;
            } else {
                joined.extend_from_slice(&std::mem::take(&mut first));
                joined.extend_from_slice(&piece);
            }
        }
        Ok(if joined.is_empty() { first } else { joined.freeze() })
    }

    /// The start of an unexpected body, for the operator.
    pub async fn excerpt(mut self, cap: usize) -> Bytes {
        let mut kept = BytesMut::new();
        let reading = async {
            while let Ok(Some(data)) = self.wire.piece().await {
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

    /// Reads the body as events of at most `cap` bytes each.
    pub fn events(self, cap: usize) -> EventStream {
        EventStream::new(self.wire, cap)
    }
}
