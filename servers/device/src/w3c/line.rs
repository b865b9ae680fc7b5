//! One exchange over HTTP/1.1. How far a failed exchange got is what matters: an action that may have arrived is not sent
//! again.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::Secret;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// How long connecting and greeting may take together.
const CONNECT: Duration = Duration::from_secs(5);
/// A connection that idled longer is not trusted with an action: it may be closing, and nobody could tell whether the
/// command was read.
const FRESH: Duration = Duration::from_secs(2);

/// Where a driver is.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    host: String,
    port: u16,
    secure: bool,
    path: String,
    headers: HeaderMap,
}

impl Endpoint {
    /// Reads `http[s]://host[:port][/path]`; headers that cannot be sent are refused too.
    pub(crate) fn read(url: &str, headers: &[(String, Secret<String>)]) -> Option<Endpoint> {
        let uri: http::Uri = url.parse().ok()?;
        let secure = match uri.scheme_str()? {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let host = uri.host()?.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let path = uri.path().trim_end_matches('/').to_owned();
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let mut value = HeaderValue::from_str(value.expose()).ok()?;
            value.set_sensitive(true);
            all.insert(HeaderName::try_from(name).ok()?, value);
        }
        Some(Endpoint { host, port, secure, path, headers: all })
    }

    /// A port of this machine.
    pub(crate) fn local(port: u16) -> Endpoint {
        let host = "127.0.0.1".to_owned();
        Endpoint { host, port, secure: false, path: String::new(), headers: HeaderMap::new() }
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
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// Why nothing came back, by how far the request got.
#[derive(Debug)]
pub(crate) enum Unheard {
    /// Nothing of it left.
    NotSent(io::Error),
    /// It left, and the connection broke off.
    Lost(io::Error),
    /// It left, and the answer did not come in time.
    Late,
    /// It left, and the answer is larger than anybody wants: so many bytes, or so many by then.
    TooLarge(u64),
}

/// Whether a request may be sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It changes nothing.
    Yes,
    /// It may have been made.
    No,
}

/// One request.
pub(crate) struct Asked<'a> {
    pub(crate) method: Method,
    /// Below the endpoint's own path.
    pub(crate) path: &'a str,
    pub(crate) body: Option<Bytes>,
    pub(crate) limit: Duration,
    pub(crate) again: Again,
}

type Sender = SendRequest<Full<Bytes>>;

/// The way to a driver.
pub(crate) struct Line {
    endpoint: Endpoint,
    largest: usize,
    tls: OnceCell<TlsConnector>,
    idle: Mutex<Option<(Sender, Instant)>>,
}

impl Line {
    pub(crate) fn new(endpoint: Endpoint, largest: usize) -> Line {
        Line { endpoint, largest, tls: OnceCell::new(), idle: Mutex::default() }
    }

    /// The most bytes of an answer.
    pub(crate) fn largest(&self) -> usize {
        self.largest
    }

    /// Sends a request and waits for the whole answer. What may be sent twice is, once, when an idle connection turns out
    /// to be closed.
    pub(crate) async fn exchange(&self, asked: Asked<'_>) -> Result<Heard, Unheard> {
        let deadline = Instant::now() + asked.limit;
        if let Some(sender) = self.idle(asked.again).await {
            match self.send(sender, &asked, deadline).await {
                Err(Unheard::NotSent(_)) => {}
                Err(Unheard::Lost(_)) if asked.again == Again::Yes => {}
                ended => return ended,
            }
        }
        let connecting = timeout_at(deadline.min(Instant::now() + CONNECT), self.dial()).await;
        let sender = connecting.map_err(io::Error::from).flatten().map_err(Unheard::NotSent)?;
        self.send(sender, &asked, deadline).await
    }

    async fn idle(&self, again: Again) -> Option<Sender> {
        let (sender, since) = self.idle.lock().await.take()?;
        let is_trusted = again == Again::Yes || since.elapsed() < FRESH;
        (is_trusted && sender.is_ready()).then_some(sender)
    }

    async fn dial(&self) -> io::Result<Sender> {
        let socket = TcpStream::connect((self.endpoint.host.as_str(), self.endpoint.port)).await?;
        socket.set_nodelay(true)?;
        if !self.endpoint.secure {
            return greet(TokioIo::new(socket)).await;
        }
        let name = ServerName::try_from(self.endpoint.host.clone()).map_err(io::Error::other)?;
        let tls = self.tls.get_or_try_init(connector).await?;
        greet(TokioIo::new(tls.connect(name, socket).await?)).await
    }

    fn request(&self, asked: &Asked<'_>) -> io::Result<hyper::Request<Full<Bytes>>> {
        let mut request = hyper::Request::builder()
            .method(asked.method.clone())
            .uri(format!("{}{}", self.endpoint.path, asked.path))
            .header(http::header::HOST, self.endpoint.authority())
            .header(http::header::ACCEPT, "application/json")
            .header(http::header::USER_AGENT, concat!("failwell/", env!("CARGO_PKG_VERSION")));
        if asked.body.is_some() {
            request = request.header(http::header::CONTENT_TYPE, "application/json; charset=utf-8");
        }
        let body = Full::new(asked.body.clone().unwrap_or_default());
        let mut request = request.body(body).map_err(io::Error::other)?;
        request
            .headers_mut()
            .extend(self.endpoint.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        Ok(request)
    }

    async fn send(&self, mut sender: Sender, asked: &Asked<'_>, deadline: Instant) -> Result<Heard, Unheard> {
        let request = self.request(asked).map_err(Unheard::NotSent)?;
        let answer = match timeout_at(deadline, sender.try_send_request(request)).await {
            Err(_) => return Err(Unheard::Late),
            Ok(Err(mut broken)) => {
                // A request that comes back was never written.
                let is_unsent = broken.take_message().is_some();
                let error = io::Error::other(broken.into_error());
                return Err(if is_unsent { Unheard::NotSent(error) } else { Unheard::Lost(error) });
            }
            Ok(Ok(answer)) => answer,
        };
        let status = answer.status().as_u16();
        let body = match timeout_at(deadline, self.collect(answer.into_body())).await {
            Err(_) => return Err(Unheard::Late),
            Ok(body) => body?,
        };
        if sender.is_ready() {
            *self.idle.lock().await = Some((sender, Instant::now()));
        }
        Ok(Heard { status, body })
    }

    /// The whole body, unless it is too large: told before the first byte where its size is announced.
    async fn collect(&self, mut body: Incoming) -> Result<Bytes, Unheard> {
        let largest = u64::try_from(self.largest).unwrap_or(u64::MAX);
        let announced = body.size_hint().exact();
        if let Some(size) = announced.filter(|size| *size > largest) {
            return Err(Unheard::TooLarge(size));
        }
        let expected = announced.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
        let mut whole = Vec::with_capacity(expected);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Unheard::Lost(io::Error::other(error)))?;
            let Some(data) = frame.data_ref() else { continue };
            let size = whole.len().saturating_add(data.len());
            if size > self.largest {
                return Err(Unheard::TooLarge(u64::try_from(size).unwrap_or(u64::MAX)));
            }
            whole.extend_from_slice(data);
        }
        Ok(Bytes::from(whole))
    }
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

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
    use super::Endpoint;

    #[test]
    fn endpoints_are_read_with_their_ports_and_paths() {
        for (url, expected) in [
            ("http://127.0.0.1:4723", Some(("127.0.0.1:4723", false, ""))),
            ("https://farm.example/wd/hub/", Some(("farm.example", true, "/wd/hub"))),
            ("http://[::1]:9515/", Some(("[::1]:9515", false, ""))),
            ("ftp://x", None),
            ("nonsense", None),
        ] {
            let read = Endpoint::read(url, &[]);
            let shown = read.as_ref().map(|it| (it.authority(), it.secure, it.path.clone()));
            let expected = expected.map(|(a, b, c)| (a.to_owned(), b, c.to_owned()));
            assert_eq!(shown, expected, "{url}");
        }
    }
}
