use std::io;

use bytes::Bytes;
use failwell_connect::Trust;
use http_body_util::Full;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::endpoint::Endpoint;

pub(crate) type Sender = SendRequest<Full<Bytes>>;

/// Opens connections. The system's certificates are read for the first one that needs them.
#[derive(Default)]
pub(crate) struct Connector {
    tls: OnceCell<TlsConnector>,
}

impl Connector {
    pub(crate) async fn connect(&self, endpoint: &Endpoint) -> io::Result<Sender> {
        let socket = TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await?;
        socket.set_nodelay(true)?;
        if !endpoint.is_tls {
            return handshake(TokioIo::new(socket)).await;
        }
        let name = ServerName::try_from(endpoint.host.clone()).map_err(io::Error::other)?;
        let tls = self.tls.get_or_try_init(|| async { Trust::System.connector().await }).await?;
        handshake(TokioIo::new(tls.connect(name, socket).await?)).await
    }
}

async fn handshake<T>(socket: T) -> io::Result<Sender>
where
    T: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(socket).await.map_err(io::Error::other)?;
    // The task ends with the sender or with the peer. Errors reach the sender.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}
