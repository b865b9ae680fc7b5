use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::address::{Address, Secure};
use super::remote::SendError;
use super::socket::Socket;
use super::wire::Wire;

/// Maximum time for name resolution, connection and TLS handshake together.
const CONNECT: Duration = Duration::from_secs(5);

/// Detects a dead server within minutes, even on a stream of notifications that stays silent for hours.
const KEEPALIVE: TcpKeepalive =
    TcpKeepalive::new().with_time(Duration::from_secs(60)).with_interval(Duration::from_secs(15));

/// The trusted certificate authorities for https.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// The authorities that the operating system trusts.
    #[default]
    System,
    /// Only these authorities, as PEM.
    Pem(Bytes),
}

impl Trust {
    /// A TLS connector, also for protocols other than HTTP.
    pub async fn connector(&self) -> io::Result<TlsConnector> {
        connector(self.clone()).await
    }

    /// Trusts only these authorities. Returns `None` if the text has no certificate, or an unreadable one.
    pub fn pem(text: impl Into<Bytes>) -> Option<Trust> {
        let trust = Trust::Pem(text.into());
        roots(&trust).ok().filter(|roots| !roots.is_empty()).map(|_| trust)
    }
}

/// Opens connections to one server.
pub(super) struct Dialer {
    trust: Trust,
    tls: OnceCell<TlsConnector>,
}

impl Dialer {
    pub(super) fn new(trust: Trust) -> Dialer {
        Dialer { trust, tls: OnceCell::new() }
    }

    /// Opens a connection. If this fails, no byte of a request was sent.
    pub(super) async fn dial(&self, address: &Address) -> Result<Box<Wire>, SendError> {
        match tokio::time::timeout(CONNECT, self.connect(address)).await {
            Ok(connected) => connected.map_err(SendError::not_sent),
            Err(late) => Err(SendError::not_sent(io::Error::from(late))),
        }
    }

    async fn connect(&self, address: &Address) -> io::Result<Box<Wire>> {
        let socket = reach(&address.host, address.port).await?;
        match address.secure {
            Secure::No => Ok(Wire::new(Socket::Plain(socket))),
            Secure::Yes => {
                let name = ServerName::try_from(address.host.clone()).map_err(io::Error::other)?;
                let tls = self.tls.get_or_try_init(|| connector(self.trust.clone())).await?;
                Ok(Wire::new(Socket::Secure(Box::new(tls.connect(name, socket).await?))))
            }
        }
    }
}

async fn reach(host: &str, port: u16) -> io::Result<TcpStream> {
    let socket = TcpStream::connect((host, port)).await?;
    socket.set_nodelay(true)?;
    SockRef::from(&socket).set_tcp_keepalive(&KEEPALIVE)?;
    Ok(socket)
}

async fn connector(trust: Trust) -> io::Result<TlsConnector> {
    let roots = tokio::task::spawn_blocking(move || roots(&trust)).await??;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn roots(trust: &Trust) -> io::Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match trust {
        Trust::System => {
            // Ignore unreadable certificates of the system, and use the others.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Trust::Pem(text) => {
            for certificate in CertificateDer::pem_slice_iter(text) {
                roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
            }
        }
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::reach;
    use socket2::SockRef;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_connection_says_nothing_late_and_notices_that_it_is_dead() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
        let port = listener.local_addr().expect("an address").port();
        let socket = reach("127.0.0.1", port).await.expect("a connection");
        assert!(socket.nodelay().expect("an option"));
        assert!(SockRef::from(&socket).keepalive().expect("an option"));
    }
}
