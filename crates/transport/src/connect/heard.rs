use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::events::Events;
use super::head::Head;
use super::idle::Idle;
use super::remote::Unheard;
use super::wire::Wire;

/// How long the start of a body that is only kept for the operator may take.
const EXCERPT: Duration = Duration::from_millis(500);

/// The head of an answer, and its body still to be read. Dropped before the body ended, the connection is closed.
pub struct Heard {
    head: Head,
    wire: Box<Wire>,
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
    pub(super) fn new(head: Head, wire: Box<Wire>, idle: Arc<Idle>) -> Heard {
        Heard { head, wire, idle }
    }

    /// The status.
    pub fn status(&self) -> u16 {
        self.head.status
    }

    /// One header, when it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    /// What the body says it is.
    pub fn content(&self) -> ContentKind {
        let kind = self.header("content-type").unwrap_or_default();
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
        let too_large = || Unheard::TooLarge(cap);
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

    /// All pieces of a body whose length nobody said.
    async fn joined(&mut self, cap: usize) -> Result<Bytes, Unheard> {
        let (mut first, mut joined) = (Bytes::new(), BytesMut::new());
        while let Some(piece) = self.wire.piece().await? {
            if first.len() + joined.len() + piece.len() > cap {
                return Err(Unheard::TooLarge(cap));
            }
            // Many come in one piece, which needs no copy.
            if first.is_empty() && joined.is_empty() {
                first = piece;
            } else {
                joined.extend_from_slice(&std::mem::take(&mut first));
                joined.extend_from_slice(&piece);
            }
        }
        Ok(if joined.is_empty() { first } else { joined.freeze() })
    }

    /// The start of a body nobody will make sense of, for the operator.
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

    /// The body as events, each at most `cap` bytes.
    pub fn events(self, cap: usize) -> Events {
        Events::new(self.wire, cap)
    }
}
