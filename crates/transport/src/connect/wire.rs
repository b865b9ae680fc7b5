use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

use super::chunks::Cut;
use super::head::{Head, Left, Rest};
use super::remote::Unheard;
use super::socket::Socket;
use super::writing::{Unsent, Writing};

/// Bytes read at once at the least, which most answers fit into; what is known to come is read into one place as it comes.
const READ: usize = 4 * 1024;
/// Bytes made room for ahead of what came at the most: a length is only what somebody says.
const AHEAD: usize = 64 * 1024;

/// A connection somebody holds, one exchange at a time. It has no task of its own: whoever waits for something on it
/// moves it along, on their own thread. Dropped, it is closed.
pub(super) struct Wire {
    socket: Socket,
    came: BytesMut,
    rest: Rest,
    /// What is still to be written although the answer began; it is written while the answer is read.
    unsent: Option<Box<Unsent>>,
    /// Room for an answer like the last one, so that it comes with one read.
    usual: usize,
}

/// What became of a request.
pub(super) enum Sent {
    Answered(Head),
    /// Not a byte of it was written.
    Unsent(io::Error),
    Lost(io::Error),
}

impl Wire {
    /// In one place for as long as it lives, however often it is handed on.
    pub(super) fn new(socket: Socket) -> Box<Wire> {
        let rest = Rest { body: Left::Nothing, keeps: true };
        Box::new(Wire { socket, came: BytesMut::new(), rest, unsent: None, usual: READ })
    }

    /// Sends a request, and waits for the head of its answer, which may come before all of the request is out.
    pub(super) async fn send(&mut self, head: &[u8], body: &Bytes) -> Sent {
        let mut writing = Writing::new(head, body);
        let answered = poll_fn(|cx| self.poll_exchange(cx, &mut writing)).await;
        match answered {
            Ok((head, rest)) => {
                self.rest = rest;
                if !writing.is_done() {
                    self.unsent = Some(Box::new(writing.unsent(body)));
                }
                Sent::Answered(head)
            }
            Err(why) if writing.never_began() && self.socket.failure_tells() => {
                Sent::Unsent(writing.failure_or(why))
            }
            Err(why) => Sent::Lost(writing.failure_or(why)),
        }
    }

    fn poll_exchange(
        &mut self,
        cx: &mut Context<'_>,
        writing: &mut Writing<'_>,
    ) -> Poll<io::Result<(Head, Rest)>> {
        writing.advance(&mut self.socket, cx);
        if writing.never_began() {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        }
        loop {
            // Whoever refuses to read all of a request may still have said why.
            if ready!(self.poll_more(cx, self.usual))? == 0 {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            if let Some(answer) = Head::take(&mut self.came)? {
                return Poll::Ready(Ok(answer));
            }
        }
    }

    /// Goes on with a request whose answer began before all of it was out.
    #[cold]
    fn write_on(&mut self, cx: &mut Context<'_>) {
        let written = self.unsent.as_mut().map(|unsent| unsent.advance(&mut self.socket, cx));
        if let Some(Poll::Ready(written)) = written {
            // Whoever does not want all of it may still answer, but is not asked anything else.
            self.rest.keeps &= written.is_ok();
            self.unsent = None;
        }
    }

    fn poll_more(&mut self, cx: &mut Context<'_>, room: usize) -> Poll<io::Result<usize>> {
        if self.unsent.is_some() {
            self.write_on(cx);
        }
        if self.came.capacity() - self.came.len() < READ.max(room.min(self.usual)) {
            self.came.reserve(room);
        }
        pin!(self.socket.read_buf(&mut self.came)).poll(cx)
    }

    /// How many bytes are still to come, if that was said.
    pub(super) fn length(&self) -> Option<u64> {
        match self.rest.body {
            Left::Bytes(length) => Some(length),
            _ => None,
        }
    }

    /// All of a body that was said to be so long.
    pub(super) async fn all(&mut self, length: usize) -> Result<Bytes, Unheard> {
        while self.came.len() < length {
            // A little more than that: the place is used again, and the next answer has a head before its body.
            let room = (length - self.came.len()).min(AHEAD.max(self.came.len())) + READ;
            if poll_fn(|cx| self.poll_more(cx, room)).await.map_err(Unheard::lost)? == 0 {
                return Err(Unheard::lost(io::Error::from(io::ErrorKind::UnexpectedEof)));
            }
        }
        self.rest.body = Left::Nothing;
        self.usual = (length + READ).min(AHEAD + READ);
        Ok(self.came.split_to(length).freeze())
    }

    /// The next piece of a body; `None` at its end. Safe to drop and call again.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, Unheard> {
        loop {
            match self.cut().map_err(Unheard::lost)? {
                Cut::Piece(piece) => return Ok(Some(piece)),
                Cut::End => {
                    self.rest.body = Left::Nothing;
                    return Ok(None);
                }
                Cut::More => {}
            }
            if poll_fn(|cx| self.poll_more(cx, READ)).await.map_err(Unheard::lost)? == 0 {
                if matches!(self.rest.body, Left::UntilClose) {
                    self.rest.body = Left::Nothing;
                    return Ok(None);
                }
                return Err(Unheard::lost(io::Error::from(io::ErrorKind::UnexpectedEof)));
            }
        }
    }

    fn cut(&mut self) -> io::Result<Cut> {
        let came = &mut self.came;
        match &mut self.rest.body {
            Left::Nothing | Left::Bytes(0) => Ok(Cut::End),
            Left::Chunks(chunks) => chunks.cut(came),
            _ if came.is_empty() => Ok(Cut::More),
            Left::UntilClose => Ok(Cut::Piece(came.split().freeze())),
            Left::Bytes(left) => {
                let length = came.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= length as u64;
                Ok(Cut::Piece(came.split_to(length).freeze()))
            }
        }
    }

    /// Whether the last exchange is over, and another may follow.
    pub(super) fn is_over(&self) -> bool {
        self.rest.keeps
            && self.unsent.is_none()
            && self.came.is_empty()
            && matches!(self.rest.body, Left::Nothing)
    }

    /// Whether it can take another request now: the other side neither hung up nor spoke unasked.
    pub(super) fn is_ready(&mut self) -> bool {
        let mut unasked = [0];
        let mut buffer = ReadBuf::new(&mut unasked);
        let polled =
            Pin::new(&mut self.socket).poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer);
        self.is_over() && polled.is_pending()
    }
}
