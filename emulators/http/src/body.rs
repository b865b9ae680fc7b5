//! Response bodies: whole, slow, or broken off.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

/// A response body.
#[derive(Debug)]
pub struct Body {
    pieces: VecDeque<Bytes>,
    left: usize,
    /// The delay of each piece, and the timer of the next one.
    pace: Option<(Duration, Pin<Box<Sleep>>)>,
    /// Whether the connection breaks before the end.
    breaks: bool,
}

/// How many pieces a slow body has.
const PIECES: usize = 20;

impl Body {
    /// The whole text at once.
    pub fn whole(text: String) -> Body {
        Body { left: text.len(), pieces: VecDeque::from([Bytes::from(text)]), pace: None, breaks: false }
    }

    /// The same, in small pieces over this time.
    pub fn slow(text: String, over: Duration) -> Body {
        let left = text.len();
        let mut rest = Bytes::from(text);
        let size = (left / PIECES).max(1);
        let mut pieces = VecDeque::new();
        while !rest.is_empty() {
            pieces.push_back(rest.split_to(size.min(rest.len())));
        }
        let count = u32::try_from(pieces.len().max(1)).unwrap_or(u32::MAX);
        let each = over / count;
        Body { pieces, left, pace: Some((each, Box::pin(sleep_until(Instant::now() + each)))), breaks: false }
    }

    /// The first half, and then the connection breaks.
    pub fn broken(text: String) -> Body {
        let left = text.len();
        let half = Bytes::from(text).slice(..left / 2);
        Body { left, pieces: VecDeque::from([half]), pace: None, breaks: true }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if !self.pieces.is_empty()
            && let Some((each, sleep)) = &mut self.pace
        {
            ready!(sleep.as_mut().poll(cx));
            sleep.as_mut().reset(Instant::now() + *each);
        }
        match self.pieces.pop_front() {
            Some(piece) => {
                self.left = self.left.saturating_sub(piece.len());
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            None if self.breaks => {
                self.breaks = false;
                Poll::Ready(Some(Err(io::ErrorKind::UnexpectedEof.into())))
            }
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty() && !self.breaks
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}
