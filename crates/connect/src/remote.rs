use std::error::Error;
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, OrFault, Secret, reason};
use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};

use super::address::Address;
use super::dial::{Dialer, Trust};
use super::idle::IdleConnections;
use super::lines::{HeadLines, write_line};
use super::response::HttpResponse;
use super::wire::SendOutcome;

pub struct Remote {
    address: Address,
    /// Configured headers of every request, without `Host`.
    fixed: HeaderMap,
    dialer: Arc<Dialer>,
    idle: Arc<IdleConnections>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Delete,
}

impl Verb {
    fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Delete => "DELETE",
        }
    }
}

/// The reason why there is no response, or only part of one.
#[derive(Debug)]
pub enum SendError {
    /// No byte of the request was sent.
    NotSent(Box<dyn Error + Send + Sync>),
    /// The connection failed after the request was sent.
    Lost(Box<dyn Error + Send + Sync>),
    /// The response exceeds this number of bytes.
    TooLarge(usize),
}

impl SendError {
    pub(super) fn not_sent(cause: impl Error + Send + Sync + 'static) -> SendError {
        SendError::NotSent(Box::new(cause))
    }

    pub(super) fn lost(cause: impl Error + Send + Sync + 'static) -> SendError {
        SendError::Lost(Box::new(cause))
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::NotSent(_) => formatter.write_str("the request could not be sent"),
            SendError::Lost(_) => formatter.write_str("the connection broke after the request was sent"),
            SendError::TooLarge(limit) => write!(formatter, "the answer is larger than {limit} bytes"),
        }
    }
}

impl Error for SendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SendError::NotSent(cause) | SendError::Lost(cause) => Some(cause.as_ref()),
            SendError::TooLarge(_) => None,
        }
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers and path may contain secrets, so they are not printed.
        formatter.debug_struct("Remote").field("host", &self.address.host).finish_non_exhaustive()
    }
}

impl Remote {
    /// A server at this URL. The headers are added to every request.
    pub fn new(url: &str, headers: &[(String, Secret<String>)], trust: Trust) -> Result<Remote, Fault> {
        let address = Address::parse(url)?;
        let mut fixed = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::try_from(name.as_str()).or_fault(&reason::CONFIG_INVALID)?;
            let mut value = HeaderValue::from_str(value.expose()).or_fault(&reason::CONFIG_INVALID)?;
            value.set_sensitive(true);
            fixed.insert(name, value);
        }
        // The client computes these headers itself.
        for length in [CONTENT_LENGTH, TRANSFER_ENCODING] {
            fixed.remove(length);
        }
        Ok(Remote { address, fixed, dialer: Arc::new(Dialer::new(trust)), idle: Arc::default() })
    }

    /// The same server at the path of a reference from it; `None` if the reference points to another server.
    pub fn at_reference(&self, reference: &str) -> Option<Remote> {
        let address = self.address.resolve(reference)?;
        let (fixed, dialer, idle) = (self.fixed.clone(), self.dialer.clone(), self.idle.clone());
        Some(Remote { address, fixed, dialer, idle })
    }

    /// Sends a request and waits for the response head. Dropping the future closes the connection.
    ///
    /// A request is retried on another connection only if no byte of it was written to the first.
    pub async fn send(&self, verb: Verb, headers: HeadLines, body: Bytes) -> Result<HttpResponse, SendError> {
        let head = self.head(verb, &headers, body.len());
        while let Some(mut connection) = self.idle.take() {
            match connection.send(&head, &body).await {
                SendOutcome::Answered(answer) => {
                    return Ok(HttpResponse::new(answer, connection, self.idle.clone()));
                }
                SendOutcome::Unsent(_) => {}
                SendOutcome::Lost(why) => return Err(SendError::lost(why)),
            }
        }
        // Rarely taken and large, so it is boxed: the future of every request stays small.
        let mut fresh = Box::pin(self.dialer.dial(&self.address)).await?;
        match fresh.send(&head, &body).await {
            SendOutcome::Answered(answer) => Ok(HttpResponse::new(answer, fresh, self.idle.clone())),
            SendOutcome::Unsent(why) => Err(SendError::not_sent(why)),
            SendOutcome::Lost(why) => Err(SendError::lost(why)),
        }
    }

    /// Serializes the head of a request.
    fn head(&self, verb: Verb, headers: &HeadLines, length: usize) -> Vec<u8> {
        let mut head = Vec::with_capacity(512 + headers.as_bytes().len());
        let path = self.address.path.path_and_query().map_or("/", |path| path.as_str());
        for part in [verb.as_str(), " ", path, " HTTP/1.1\r\n"] {
            head.extend_from_slice(part.as_bytes());
        }
        if !self.fixed.contains_key(HOST) {
            write_line(&mut head, HOST.as_str(), self.address.authority.as_bytes());
        }
        head.extend_from_slice(headers.as_bytes());
        // Headers of the protocol override configured ones. The computed length overrides both.
        let configured = self.fixed.iter().filter(|(name, _)| !headers.has(name.as_str()));
        for (name, value) in configured {
            write_line(&mut head, name.as_str(), value.as_bytes());
        }
        if verb == Verb::Post || length > 0 {
            let _ = write!(head, "{CONTENT_LENGTH}: {length}\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}
