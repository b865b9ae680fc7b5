//! TLS for PostgreSQL: rustls with the operator's trust settings; the host name is always verified.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use failwell_connect::Trust;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

#[derive(Clone)]
pub(crate) struct PostgresTls(TlsConnector);

impl PostgresTls {
    pub(crate) async fn new(trust: &Trust) -> io::Result<PostgresTls> {
        Ok(PostgresTls(trust.connector().await?))
    }
}

pub(crate) struct TlsHandshake {
    tls: TlsConnector,
    name: ServerName<'static>,
}

pub(crate) struct PostgresTlsStream<S>(Box<tokio_rustls::client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for PostgresTls {
    type Stream = PostgresTlsStream<S>;
    type TlsConnect = TlsHandshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<TlsHandshake> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(TlsHandshake { tls: self.0.clone(), name })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for TlsHandshake {
    type Stream = PostgresTlsStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<PostgresTlsStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(PostgresTlsStream(Box::new(self.tls.connect(self.name, stream).await?))) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for PostgresTlsStream<S> {
    /// No channel binding: the certificate is verified instead.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for PostgresTlsStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for PostgresTlsStream<S> {
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
