//! A connection to Redis over TLS. The client library gets the finished stream: whom to trust is decided where it is
//! for everything else, and the library brings no TLS of its own.

use std::io;

use failwell_transport::Trust;
use redis::ConnectionAddr;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

/// Whom to trust, and what follows from it.
pub(crate) struct Secure {
    trust: Trust,
    tls: OnceCell<TlsConnector>,
}

impl Secure {
    pub(crate) fn new(trust: Trust) -> Secure {
        Secure { trust, tls: OnceCell::new() }
    }

    /// A new connection, to nobody but whom the address names.
    pub(crate) async fn connect(&self, address: &ConnectionAddr) -> io::Result<TlsStream<TcpStream>> {
        let ConnectionAddr::Tcp(host, port) = address else {
            return Err(io::Error::other("no address of a host"));
        };
        let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
        let socket = TcpStream::connect((host.as_str(), *port)).await?;
        socket.set_nodelay(true)?;
        let tls = self.tls.get_or_try_init(|| self.trust.connector()).await?;
        tls.connect(name, socket).await
    }
}
