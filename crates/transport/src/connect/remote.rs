use std::error::Error;
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use failwell_fault::{Fault, OrFault, Secret, reason};
use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};

use super::address::Address;
use super::dial::{Dialer, Trust};
use super::heard::Heard;
use super::idle::Idle;
use super::lines::{HeadLines, write_line};
use super::wire::Sent;

/// A server reached over HTTP.
pub struct Remote {
    address: Address,
    /// Headers that go with every request, but for the host.
    fixed: HeaderMap,
    dialer: Arc<Dialer>,
    idle: Arc<Idle>,
}

/// What is asked of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `DELETE`
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

/// Why there is no answer, or no more of it.
#[derive(Debug)]
pub enum Unheard {
    /// Not a byte of the request left.
    NotSent(Box<dyn Error + Send + Sync>),
    /// The request left; then the connection broke.
    Lost(Box<dyn Error + Send + Sync>),
    /// The answer is larger than this many bytes.
    TooLarge(usize),
}

impl Unheard {
    pub(super) fn not_sent(cause: impl Error + Send + Sync + 'static) -> Unheard {
        Unheard::NotSent(Box::new(cause))
    }

    pub(super) fn lost(cause: impl Error + Send + Sync + 'static) -> Unheard {
        Unheard::Lost(Box::new(cause))
    }
}

impl fmt::Display for Unheard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unheard::NotSent(_) => formatter.write_str("the request could not be sent"),
            Unheard::Lost(_) => formatter.write_str("the connection broke after the request was sent"),
            Unheard::TooLarge(limit) => write!(formatter, "the answer is larger than {limit} bytes"),
        }
    }
}

impl Error for Unheard {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Unheard::NotSent(cause) | Unheard::Lost(cause) => Some(cause.as_ref()),
            Unheard::TooLarge(_) => None,
        }
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither the headers nor the path: both may hold secrets.
        formatter.debug_struct("Remote").field("host", &self.address.host).finish_non_exhaustive()
    }
}

impl Remote {
    /// A server at this address. The headers go with every request.
    pub fn new(url: &str, headers: &[(String, Secret<String>)], trust: Trust) -> Result<Remote, Fault> {
        let address = Address::parse(url)?;
        let mut fixed = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::try_from(name.as_str()).or_fault(&reason::CONFIG_INVALID)?;
            let mut value = HeaderValue::from_str(value.expose()).or_fault(&reason::CONFIG_INVALID)?;
            value.set_sensitive(true);
            fixed.insert(name, value);
        }
        // Ours to write.
        for length in [CONTENT_LENGTH, TRANSFER_ENCODING] {
            fixed.remove(length);
        }
        Ok(Remote { address, fixed, dialer: Arc::new(Dialer::new(trust)), idle: Arc::default() })
    }

    /// The same server at another path, which a reference found there leads to; `None` when it leads elsewhere.
    pub fn beside(&self, reference: &str) -> Option<Remote> {
        let address = self.address.resolve(reference)?;
        let (fixed, dialer, idle) = (self.fixed.clone(), self.dialer.clone(), self.idle.clone());
        Some(Remote { address, fixed, dialer, idle })
    }

    /// Sends a request and waits for the head of its answer. Dropped while it waits, the connection is closed.
    ///
    /// A request is moved to another connection only when not a byte of it was written to the first.
    pub async fn send(&self, verb: Verb, headers: HeadLines, body: Bytes) -> Result<Heard, Unheard> {
        let head = self.head(verb, &headers, body.len());
        while let Some(mut kept) = self.idle.take() {
            match kept.send(&head, &body).await {
                Sent::Answered(answer) => return Ok(Heard::new(answer, kept, self.idle.clone())),
                Sent::Unsent(_) => {}
                Sent::Lost(why) => return Err(Unheard::lost(why)),
            }
        }
        // Rare and large, so kept apart: what every request is made of stays small.
        let mut fresh = Box::pin(self.dialer.dial(&self.address)).await?;
        match fresh.send(&head, &body).await {
            Sent::Answered(answer) => Ok(Heard::new(answer, fresh, self.idle.clone())),
            Sent::Unsent(why) => Err(Unheard::not_sent(why)),
            Sent::Lost(why) => Err(Unheard::lost(why)),
        }
    }

    /// The head of a request, as it is written.
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
        // What the protocol needs wins over what was configured, and how long the body is over both.
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
