//! TLS as everything else here does it: rustls, with whom the operator trusts, and always with the name checked.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use failwell_transport::Trust;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// Makes connections secure.
#[derive(Clone)]
pub(crate) struct Tls(TlsConnector);

impl Tls {
    pub(crate) async fn of(trust: &Trust) -> io::Result<Tls> {
        Ok(Tls(trust.connector().await?))
    }
}

/// One connection to be made secure.
pub(crate) struct Securing {
    tls: TlsConnector,
    name: ServerName<'static>,
}

/// A secure connection.
pub(crate) struct Secure<S>(Box<tokio_rustls::client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Secure<S>;
    type TlsConnect = Securing;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Securing> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(Securing { tls: self.0.clone(), name })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Securing {
    type Stream = Secure<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Secure<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(Secure(Box::new(self.tls.connect(self.name, stream).await?))) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Secure<S> {
    /// The certificate was checked; a password is not bound to it besides.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Secure<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Secure<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}
