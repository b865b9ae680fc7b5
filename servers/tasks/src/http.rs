//! One exchange with the service over HTTP/1.1: a form goes out, a document comes back. What matters here is how far a
//! failed exchange got, because a change that may have arrived must not be sent again.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// How long finding, connecting to and greeting the service may take together.
const CONNECT: Duration = Duration::from_secs(5);
/// The most bytes of an answer: some fifty thousand tasks.
const LARGEST: usize = 64 << 20;

/// Where the service is.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    host: String,
    port: u16,
    secure: bool,
    path: String,
}

impl Address {
    /// Reads `https://host[:port][/path]`.
    pub(crate) fn read(base: &str, below: &str) -> Option<Address> {
        let uri: http::Uri = base.parse().ok()?;
        let secure = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let path = format!("{}{below}", uri.path().trim_end_matches('/'));
        Some(Address { host, port, secure, path })
    }

    fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match (self.secure, self.port) {
            (true, 443) | (false, 80) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

/// What came back.
pub(crate) struct Heard {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Bytes,
}

/// Why nothing came back, by how far the request got.
#[derive(Debug)]
pub(crate) enum Unheard {
    /// Nothing of it left.
    NotSent(io::Error),
    /// It left, and the connection broke off.
    Lost(Box<dyn Error + Send + Sync>),
    /// It left, and the answer did not come in time.
    Late,
    /// It left, and the answer is larger than anybody wants.
    TooLarge,
}

/// Whether a connection that was used before will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connection {
    /// A request that may be sent twice takes one that is open.
    Any,
    /// A request that must not be sent twice has its own: an idle one may be closing, and nobody could tell whether
    /// the request was read.
    Fresh,
}

type Sender = SendRequest<Full<Bytes>>;

/// The way to the service.
pub(crate) struct Http {
    address: Address,
    timeout: Duration,
    tls: OnceCell<TlsConnector>,
    idle: Mutex<Option<Sender>>,
    received: AtomicU64,
}

impl Http {
    pub(crate) fn new(address: Address, timeout: Duration) -> Http {
        Http { address, timeout, tls: OnceCell::new(), idle: Mutex::default(), received: AtomicU64::new(0) }
    }

    /// How many bytes of answers came so far.
    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// A connection to send a request on. Nothing of the request has left when this fails.
    pub(crate) async fn connect(&self, which: Connection) -> Result<Line, Unheard> {
        if which == Connection::Any
            && let Some(sender) = self.idle.lock().await.take()
            && sender.is_ready()
        {
            return Ok(Line(sender));
        }
        let connected = timeout(CONNECT, self.dial()).await;
        connected.map_err(io::Error::from).flatten().map(Line).map_err(Unheard::NotSent)
    }

    async fn dial(&self) -> io::Result<Sender> {
        let socket = TcpStream::connect((self.address.host.as_str(), self.address.port)).await?;
        socket.set_nodelay(true)?;
        if !self.address.secure {
            return greet(TokioIo::new(socket)).await;
        }
        let name = ServerName::try_from(self.address.host.clone()).map_err(io::Error::other)?;
        let tls = self.tls.get_or_try_init(connector).await?;
        greet(TokioIo::new(tls.connect(name, socket).await?)).await
    }

    /// Sends a form and waits for the whole answer.
    pub(crate) async fn send(&self, line: Line, form: String) -> Result<Heard, Unheard> {
        let Line(mut sender) = line;
        let request = hyper::Request::post(&self.address.path)
            .header(http::header::HOST, self.address.authority())
            .header(http::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(http::header::ACCEPT, "application/json")
            .header(http::header::USER_AGENT, concat!("failwell/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(Bytes::from(form)))
            .map_err(|error| Unheard::NotSent(io::Error::other(error)))?;
        let deadline = Instant::now() + self.timeout;
        let answer = match timeout_at(deadline, sender.try_send_request(request)).await {
            Err(_) => return Err(Unheard::Late),
            Ok(Err(mut broken)) => {
                // A request that comes back was never written.
                let is_unsent = broken.take_message().is_some();
                let error = broken.into_error();
                return Err(if is_unsent {
                    Unheard::NotSent(io::Error::other(error))
                } else {
                    Unheard::Lost(Box::new(error))
                });
            }
            Ok(Ok(answer)) => answer,
        };
        let status = answer.status().as_u16();
        let retry_after = answer.headers().get(http::header::RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let body = match timeout_at(deadline, Limited::new(answer.into_body(), LARGEST).collect()).await {
            Err(_) => return Err(Unheard::Late),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                return Err(Unheard::TooLarge);
            }
            Ok(Err(error)) => return Err(Unheard::Lost(error)),
            Ok(Ok(body)) => body.to_bytes(),
        };
        self.received.fetch_add(body.len() as u64, Ordering::Relaxed);
        if sender.is_ready() {
            *self.idle.lock().await = Some(sender);
        }
        Ok(Heard { status, retry_after: retry_after.map(Duration::from_secs), body })
    }
}

/// An open connection.
pub(crate) struct Line(Sender);

async fn greet<T>(socket: T) -> io::Result<Sender>
where
    T: hyper::rt::Read + hyper::rt::Write + Send + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(socket).await.map_err(io::Error::other)?;
    // Ends with the sender, or with the peer; what went wrong is told to the sender.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}

async fn connector() -> io::Result<TlsConnector> {
    let found = tokio::task::spawn_blocking(rustls_native_certs::load_native_certs).await?;
    let mut roots = RootCertStore::empty();
    // One certificate nobody can read is no reason to trust none.
    roots.add_parsable_certificates(found.certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses_are_read_with_their_ports_and_paths() {
        for (base, expected) in [
            ("https://api.example", Some(("api.example", 443, true, "/services/rest/"))),
            ("http://127.0.0.1:8123/", Some(("127.0.0.1:8123", 8123, false, "/services/rest/"))),
            ("http://[::1]:9/rtm/", Some(("[::1]:9", 9, false, "/rtm/services/rest/"))),
            ("ftp://x", None),
            ("nonsense", None),
        ] {
            let read = Address::read(base, "/services/rest/");
            let shown = read.as_ref().map(|it| (it.authority(), it.port, it.secure, it.path.clone()));
            let expected = expected.map(|(a, b, c, d)| (a.to_owned(), b, c, d.to_owned()));
            assert_eq!(shown, expected, "{base}");
        }
    }
}
