use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use super::chunks::ChunkStep;
use super::head::{BodyRemainder, ResponseHead, Rest};
use super::remote::SendError;
use super::request_writer::{RequestWriter, Unsent};
use super::socket::Socket;

/// Minimum bytes per read; most responses fit. A body of known length is read into one buffer.
const READ: usize = 4 * 1024;
/// Maximum bytes reserved in advance, because a stated length is not trusted.
const AHEAD: usize = 64 * 1024;

/// A connection for one exchange at a time. It has no task: the future that waits on it drives it. Dropping
/// it closes the connection.
pub(super) struct Wire {
    socket: Socket,
    came: BytesMut,
    rest: Rest,
    /// The rest of a request whose response has begun. It is written while the response is read.
    unsent: Option<Box<Unsent>>,
    /// Buffer size of the last response, so that a similar one needs a single read.
    usual: usize,
}

/// The result of sending a request.
pub(super) enum SendOutcome {
    Answered(ResponseHead),
    /// No byte of the request was written.
    Unsent(io::Error),
    Lost(io::Error),
}

impl Wire {
    /// Boxed once, so that moving a connection never copies it.
    pub(super) fn new(socket: Socket) -> Box<Wire> {
        let rest = Rest { body: BodyRemainder::Nothing, keeps: true };
        Box::new(Wire { socket, came: BytesMut::new(), rest, unsent: None, usual: READ })
    }

    /// Sends a request and waits for the response head, which may arrive before the request is complete.
    pub(super) async fn send(&mut self, head: &[u8], body: &Bytes) -> SendOutcome {
        let mut writing = RequestWriter::new(head, body);
        let answered = poll_fn(|cx| self.poll_exchange(cx, &mut writing)).await;
        match answered {
            Ok((head, rest)) => {
                self.rest = rest;
                if !writing.is_done() {
                    self.unsent = Some(Box::new(writing.unsent(body)));
                }
                SendOutcome::Answered(head)
            }
            Err(why) if writing.never_began() && self.socket.failure_tells() => {
                SendOutcome::Unsent(writing.failure_or(why))
            }
            Err(why) => SendOutcome::Lost(writing.failure_or(why)),
        }
    }

    fn poll_exchange(
        &mut self,
        cx: &mut Context<'_>,
        writing: &mut RequestWriter<'_>,
    ) -> Poll<io::Result<(ResponseHead, Rest)>> {
        writing.advance(&mut self.socket, cx);
        if writing.never_began() {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        }
        loop {
            // A server that stops reading the request may already have sent a response.
            if ready!(self.poll_more(cx, self.usual))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            if let Some(answer) = ResponseHead::take(&mut self.came)? {
                return Poll::Ready(Ok(answer));
            }
        }
    }

    /// Continues to write a request whose response has begun.
    #[cold]
    fn write_on(&mut self, cx: &mut Context<'_>) {
        let written = self.unsent.as_mut().map(|unsent| unsent.advance(&mut self.socket, cx));
        if let Some(Poll::Ready(written)) = written {
            // The server may still respond after a failed write, but the connection is not reused.
            self.rest.keeps &= written.is_ok();
            self.unsent = None;
        }
    }

    fn poll_more(&mut self, cx: &mut Context<'_>, space: usize) -> Poll<io::Result<usize>> {
        if self.unsent.is_some() {
            self.write_on(cx);
        }
        if self.came.capacity() - self.came.len() < READ.max(space.min(self.usual)) {
            self.came.reserve(space);
        }
        pin!(self.socket.read_buf(&mut self.came)).poll(cx)
    }

    /// The number of unread bytes, if the length is known.
    pub(super) fn length(&self) -> Option<u64> {
        match self.rest.body {
            BodyRemainder::Bytes(length) => Some(length),
            _ => None,
        }
    }

    /// Reads a body of known length.
    pub(super) async fn all(&mut self, length: usize) -> Result<Bytes, SendError> {
        while self.came.len() < length {
            // Reserve space for the next response head too, because the buffer is reused.
            let space = (length - self.came.len()).min(AHEAD.max(self.came.len())) + READ;
            if poll_fn(|cx| self.poll_more(cx, space)).await.map_err(SendError::lost)? == 0 {
                return Err(SendError::lost(io::Error::from(io::ErrorKind::UnexpectedEof)));
            }
        }
        self.rest.body = BodyRemainder::Nothing;
        self.usual = (length + READ).min(AHEAD + READ);
        Ok(self.came.split_to(length).freeze())
    }

    /// The next piece of a body; `None` at its end. Cancel-safe.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, SendError> {
        loop {
            match self.cut().map_err(SendError::lost)? {
                ChunkStep::Piece(piece) => return Ok(Some(piece)),
                ChunkStep::End => {
                    self.rest.body = BodyRemainder::Nothing;
                    return Ok(None);
                }
                ChunkStep::More => {}
            }
            if poll_fn(|cx| self.poll_more(cx, READ)).await.map_err(SendError::lost)? == 0 {
                if matches!(self.rest.body, BodyRemainder::UntilClose) {
                    self.rest.body = BodyRemainder::Nothing;
                    return Ok(None);
                }
                return Err(SendError::lost(io::Error::from(io::ErrorKind::UnexpectedEof)));
            }
        }
    }

    fn cut(&mut self) -> io::Result<ChunkStep> {
        let came = &mut self.came;
        match &mut self.rest.body {
            BodyRemainder::Nothing | BodyRemainder::Bytes(0) => Ok(ChunkStep::End),
            BodyRemainder::Chunks(chunks) => chunks.cut(came),
            _ if came.is_empty() => Ok(ChunkStep::More),
            BodyRemainder::UntilClose => Ok(ChunkStep::Piece(came.split().freeze())),
            BodyRemainder::Bytes(left) => {
                let length = came.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= length as u64;
                Ok(ChunkStep::Piece(came.split_to(length).freeze()))
            }
        }
    }

    /// Returns true if the exchange is complete and the connection can be reused.
    pub(super) fn is_over(&self) -> bool {
        self.rest.keeps
            && self.unsent.is_none()
            && self.came.is_empty()
            && matches!(self.rest.body, BodyRemainder::Nothing)
    }

    /// Returns true if the connection can take a request now. The server has neither closed it nor sent
    /// unsolicited bytes.
    pub(super) fn is_ready(&mut self) -> bool {
        let mut unasked = [0];
        let mut buffer = ReadBuf::new(&mut unasked);
        let polled =
            Pin::new(&mut self.socket).poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer);
        self.is_over() && polled.is_pending()
    }
}
