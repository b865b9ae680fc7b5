use std::io::{self, IoSlice};
use std::task::{Context, Poll};

use bytes::Bytes;

use super::socket::Socket;

/// A request on its way out.
pub(super) struct Writing<'a> {
    head: &'a [u8],
    body: &'a [u8],
    begun: bool,
    flushed: bool,
    failed: Option<io::Error>,
}

/// What of a request was not out yet when its answer began.
pub(super) struct Unsent {
    head: Bytes,
    body: Bytes,
}

impl Unsent {
    /// Writes as much of it as the other side takes now, until it is out or failed.
    pub(super) fn advance(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut writing = Writing::new(&self.head, &self.body);
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

impl<'a> Writing<'a> {
    pub(super) fn new(head: &'a [u8], body: &'a [u8]) -> Writing<'a> {
        Writing { head, body, begun: false, flushed: false, failed: None }
    }

    /// Writes as much as the other side takes now.
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

    /// Whether it failed before a byte of it was written.
    pub(super) fn never_began(&self) -> bool {
        self.failed.is_some() && !self.begun
    }

    /// Whether all of it is out.
    pub(super) fn is_done(&self) -> bool {
        self.flushed
    }

    /// What is left of it, for when nobody holds the request any more. The body is not copied.
    pub(super) fn unsent(&self, body: &Bytes) -> Unsent {
        Unsent { head: Bytes::copy_from_slice(self.head), body: body.slice_ref(self.body) }
    }

    /// Why it failed; that comes before whatever went wrong afterwards.
    pub(super) fn failure_or(&mut self, later: io::Error) -> io::Error {
        self.failed.take().unwrap_or(later)
    }
}
