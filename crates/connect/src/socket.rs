use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

pub(super) enum Socket {
    Plain(TcpStream),
    Secure(Box<TlsStream<TcpStream>>),
}

impl Socket {
    /// Returns true if a failed first write means that no byte was sent. With TLS this is unknown.
    pub(super) fn failure_tells(&self) -> bool {
        matches!(self, Socket::Plain(_))
    }

    pub(super) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self {
            Socket::Plain(socket) => Pin::new(socket).poll_write_vectored(cx, parts),
            Socket::Secure(socket) => Pin::new(socket).poll_write_vectored(cx, parts),
        }
    }

    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Socket::Plain(_) => Poll::Ready(Ok(())),
            Socket::Secure(socket) => Pin::new(socket).poll_flush(cx),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Socket::Plain(socket) => Pin::new(socket).poll_read(cx, buffer),
            Socket::Secure(socket) => Pin::new(socket).poll_read(cx, buffer),
        }
    }
}
