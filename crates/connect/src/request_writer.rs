use std::io::{self, IoSlice};
use std::task::{Context, Poll};

use bytes::Bytes;

use super::socket::Socket;

/// Writes one request to a socket.
pub(super) struct RequestWriter<'a> {
    head: &'a [u8],
    body: &'a [u8],
    begun: bool,
    flushed: bool,
    failed: Option<io::Error>,
}

/// The part of a request that was unwritten when its response began.
pub(super) struct Unsent {
    head: Bytes,
    body: Bytes,
}

impl Unsent {
    /// Writes as much as the socket accepts, until done or failed.
    pub(super) fn advance(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut writing = RequestWriter::new(&self.head, &self.body);
        writing.advance(socket, cx);
        let (failed, is_done) = (writing.failed.take(), writing.is_done());
        let (head, body) = (self.head.slice_ref(writing.head), self.body.slice_ref(writing.body));
        (self.head, self.body) = (head, body);
        match failed {
            Some(error) => Poll::Ready(Err(error)),
            None if is_done => Poll::Ready(Ok(())),
            None => Poll::Pending,
        }
    }
}

impl<'a> RequestWriter<'a> {
    pub(super) fn new(head: &'a [u8], body: &'a [u8]) -> RequestWriter<'a> {
        RequestWriter { head, body, begun: false, flushed: false, failed: None }
    }

    /// Writes as much as the socket accepts.
    pub(super) fn advance(&mut self, socket: &mut Socket, cx: &mut Context<'_>) {
        while self.failed.is_none() && !(self.head.is_empty() && self.body.is_empty()) {
            match socket.poll_write(cx, &[IoSlice::new(self.head), IoSlice::new(self.body)]) {
                Poll::Pending => return,
                Poll::Ready(Ok(0)) => self.failed = Some(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(written)) => self.wrote(written),
                Poll::Ready(Err(error)) => self.failed = Some(error),
            }
        }
        if self.failed.is_none() && !self.flushed {
            match socket.poll_flush(cx) {
                Poll::Pending => {}
                Poll::Ready(Ok(())) => self.flushed = true,
                Poll::Ready(Err(error)) => self.failed = Some(error),
            }
        }
    }

    fn wrote(&mut self, written: usize) {
        self.begun = true;
        let of_head = written.min(self.head.len());
        self.head = self.head.get(of_head..).unwrap_or_default();
        self.body = self.body.get(written - of_head..).unwrap_or_default();
    }

    /// Returns true if writing failed before the first byte.
    pub(super) fn never_began(&self) -> bool {
        self.failed.is_some() && !self.begun
    }

    pub(super) fn is_done(&self) -> bool {
        self.flushed
    }

    /// The unwritten rest, with its own copy of the head. The body is shared, not copied.
    pub(super) fn unsent(&self, body: &Bytes) -> Unsent {
        Unsent { head: Bytes::copy_from_slice(self.head), body: body.slice_ref(self.body) }
    }

    /// The write error, which takes precedence over a later error.
    pub(super) fn failure_or(&mut self, later: io::Error) -> io::Error {
        self.failed.take().unwrap_or(later)
    }
}
