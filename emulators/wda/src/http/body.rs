//! Bodies: whole, or not to the end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};

pub(super) struct Body {
    piece: Option<Bytes>,
    left: usize,
    /// Whether the connection breaks before the end.
    breaks: bool,
}

impl Body {
    pub(super) fn whole(text: String) -> Body {
        Body { left: text.len(), piece: Some(Bytes::from(text)), breaks: false }
    }

    /// The first half, and then nothing.
    pub(super) fn broken(text: String) -> Body {
        let left = text.len();
        Body { left, piece: Some(Bytes::from(text).slice(..left / 2)), breaks: true }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.piece.take() {
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
        self.piece.is_none() && !self.breaks
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left as u64)
    }
}
