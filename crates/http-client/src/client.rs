use std::fmt::{self, Debug, Formatter};
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, Method};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use parking_lot::Mutex;
use tokio::time::{Instant, timeout_at};

use crate::connect::{Connector, Sender};
use crate::endpoint::Endpoint;
use crate::error::SendError;

/// How long name lookup, TCP and TLS handshake may take together.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A request below the path of an [`Endpoint`].
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub method: Method,
    pub path: &'a str,
    /// The body and its media type.
    pub body: Option<(&'static str, Bytes)>,
}

/// Whether a request may be sent a second time when the server may have got it already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resend {
    /// The request changes nothing. It may use any idle connection.
    Safe,
    /// The request uses an idle connection only if that was in use so recently. An older one may be closing, and then the
    /// client could not tell whether the request was read.
    Never { reuse_within: Duration },
}

/// A response whose body was read to its end.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Response {
    /// `Retry-After`, where it is given in seconds.
    pub fn retry_after(&self) -> Option<Duration> {
        let seconds = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }
}

/// An open connection without a request on it.
pub struct Connection {
    sender: Sender,
    origin: ConnectionOrigin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionOrigin {
    New,
    Idle,
}

struct IdleConnection {
    sender: Sender,
    since: Instant,
}

/// A client of one server. It keeps at most one idle connection.
pub struct HttpClient {
    endpoint: Endpoint,
    max_body_bytes: usize,
    connector: Connector,
    idle: Mutex<Option<IdleConnection>>,
}

impl HttpClient {
    pub fn new(endpoint: Endpoint, max_body_bytes: usize) -> HttpClient {
        HttpClient { endpoint, max_body_bytes, connector: Connector::default(), idle: Mutex::new(None) }
    }

    pub fn max_body_bytes(&self) -> usize {
        self.max_body_bytes
    }

    /// Sends a request and reads the whole response. A request that is safe to resend is sent again, once, when an idle
    /// connection turns out to be closed.
    pub async fn exchange(
        &self,
        request: &Request<'_>,
        resend: Resend,
        timeout: Duration,
    ) -> Result<Response, SendError> {
        let deadline = Instant::now() + timeout;
        let connection = self.connect_until(resend, deadline).await?;
        let is_idle = connection.origin == ConnectionOrigin::Idle;
        match self.send_until(connection, request, deadline).await {
            Err(SendError::NotSent(_)) if is_idle => {}
            Err(SendError::ConnectionLost(_)) if is_idle && resend == Resend::Safe => {}
            ended => return ended,
        }
        let connection = self.connect_anew(deadline).await?;
        self.send_until(connection, request, deadline).await
    }

    /// A connection for one request. When this fails, it fails with [`SendError::NotSent`].
    pub async fn connect(&self, resend: Resend) -> Result<Connection, SendError> {
        self.connect_until(resend, Instant::now() + CONNECT_TIMEOUT).await
    }

    /// Sends a request on a connection, once, and reads the whole response.
    pub async fn send(
        &self,
        connection: Connection,
        request: &Request<'_>,
        timeout: Duration,
    ) -> Result<Response, SendError> {
        self.send_until(connection, request, Instant::now() + timeout).await
    }

    async fn connect_until(&self, resend: Resend, deadline: Instant) -> Result<Connection, SendError> {
        match self.take_idle(resend) {
            Some(sender) => Ok(Connection { sender, origin: ConnectionOrigin::Idle }),
            None => self.connect_anew(deadline).await,
        }
    }

    async fn connect_anew(&self, deadline: Instant) -> Result<Connection, SendError> {
        let deadline = deadline.min(Instant::now() + CONNECT_TIMEOUT);
        let connected = timeout_at(deadline, self.connector.connect(&self.endpoint)).await;
        let sender = connected.map_err(io::Error::from).flatten().map_err(SendError::NotSent)?;
        Ok(Connection { sender, origin: ConnectionOrigin::New })
    }

    /// The idle connection stays where it is if this request must not use it.
    fn take_idle(&self, resend: Resend) -> Option<Sender> {
        let mut slot = self.idle.lock();
        let is_recent = |idle: &mut IdleConnection| match resend {
            Resend::Safe => true,
            Resend::Never { reuse_within } => idle.since.elapsed() < reuse_within,
        };
        let idle = slot.take_if(is_recent)?;
        idle.sender.is_ready().then_some(idle.sender)
    }

    async fn send_until(
        &self,
        connection: Connection,
        request: &Request<'_>,
        deadline: Instant,
    ) -> Result<Response, SendError> {
        let mut sender = connection.sender;
        let request = self.build(request).map_err(SendError::NotSent)?;
        let response = match timeout_at(deadline, sender.try_send_request(request)).await {
            Err(_) => return Err(SendError::TimedOut),
            Ok(Err(mut failed)) => {
                // hyper gives back a request of which it wrote nothing.
                let is_unsent = failed.take_message().is_some();
                let error = io::Error::other(failed.into_error());
                return Err(if is_unsent {
                    SendError::NotSent(error)
                } else {
                    SendError::ConnectionLost(error)
                });
            }
            Ok(Ok(response)) => response,
        };
        let (head, body) = response.into_parts();
        let body = match timeout_at(deadline, self.collect(body)).await {
            Err(_) => return Err(SendError::TimedOut),
            Ok(body) => body?,
        };
        if sender.is_ready() {
            *self.idle.lock() = Some(IdleConnection { sender, since: Instant::now() });
        }
        Ok(Response { status: head.status.as_u16(), headers: head.headers, body })
    }

    fn build(&self, request: &Request<'_>) -> io::Result<hyper::Request<Full<Bytes>>> {
        let mut builder = hyper::Request::builder()
            .method(request.method.clone())
            .uri(format!("{}{}", self.endpoint.path, request.path))
            .header(HOST, self.endpoint.authority())
            .header(ACCEPT, "application/json")
            .header(USER_AGENT, concat!("failwell/", env!("CARGO_PKG_VERSION")));
        if let Some((media_type, _)) = request.body {
            builder = builder.header(CONTENT_TYPE, media_type);
        }
        let body = request.body.as_ref().map(|(_, body)| body.clone()).unwrap_or_default();
        let mut built = builder.body(Full::new(body)).map_err(io::Error::other)?;
        let extra = self.endpoint.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
        built.headers_mut().extend(extra);
        Ok(built)
    }

    /// A body whose announced size is too large is refused before its first byte.
    async fn collect(&self, mut body: Incoming) -> Result<Bytes, SendError> {
        let limit = u64::try_from(self.max_body_bytes).unwrap_or(u64::MAX);
        let announced = body.size_hint().exact();
        if let Some(size) = announced.filter(|size| *size > limit) {
            return Err(SendError::TooLarge(size));
        }
        let expected = announced.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
        let mut whole = Vec::with_capacity(expected);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| SendError::ConnectionLost(io::Error::other(error)))?;
            let Some(data) = frame.data_ref() else { continue };
            let size = whole.len().saturating_add(data.len());
            if size > self.max_body_bytes {
                return Err(SendError::TooLarge(u64::try_from(size).unwrap_or(u64::MAX)));
            }
            whole.extend_from_slice(data);
        }
        Ok(Bytes::from(whole))
    }
}

impl Debug for HttpClient {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}
