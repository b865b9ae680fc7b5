//! TLS connections to Redis. The client library receives the established stream. Trust is configured as for
//! all other connections, and the library needs no TLS implementation.

use std::io;

use failwell_connect::Trust;
use redis::ConnectionAddr;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

pub(crate) struct RedisTls {
    trust: Trust,
    tls: OnceCell<TlsConnector>,
}

impl RedisTls {
    pub(crate) fn new(trust: Trust) -> RedisTls {
        RedisTls { trust, tls: OnceCell::new() }
    }

    /// Connects and verifies the host name of the address.
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
