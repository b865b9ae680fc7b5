//! What the protocol wants in the headers of a request.

use failwell_rpc::{Incoming, Limits, Message, read};
use failwell_server::{Headers, claims_modern};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::Peer;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

impl Peer {
    /// The headers of a request, derived from the very body that is sent.
    pub(super) fn headers_for(&self, body: &str) -> HeaderMap {
        if self.lock().session.is_some() {
            return self.session_headers();
        }
        let mut headers = self.session_headers();
        if let Incoming::One(Ok(Message::Request(request))) = read(body.as_bytes(), &Limits::default())
            && claims_modern(&request)
        {
            let called = if request.method == "tools/call" { request.param("name") } else { None };
            let wanted = called.and_then(|name| Some(self.repeated.of(&name.as_str()?))).unwrap_or_default();
            let repeated = Headers::repeating(&request, &wanted);
            let named = [(VERSION, repeated.version), (METHOD, repeated.method), (NAME, repeated.name)];
            for (header, value) in named {
                if let Some(value) = value.and_then(|text| HeaderValue::from_str(&text).ok()) {
                    headers.insert(header, value);
                }
            }
            for (name, value) in repeated.params {
                let name = HeaderName::try_from(format!("mcp-param-{name}"));
                if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
                    headers.insert(name, value);
                }
            }
        }
        headers
    }

    /// The headers of a message of the session era.
    pub(super) fn session_headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        let state = self.lock();
        if let Some(session) = &state.session {
            headers.insert(SESSION, session.clone());
        }
        if let Some(revision) = state.revision.filter(|revision| revision.has_version_header()) {
            headers.insert(VERSION, HeaderValue::from_static(revision.as_str()));
        }
        headers
    }

    /// The headers of a request for a stream, taken up again after the given event.
    pub(super) fn stream_headers(&self, after: Option<&str>) -> HeaderMap {
        let mut headers = self.session_headers();
        headers.remove(CONTENT_TYPE);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(after) = after.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(LAST_EVENT, after);
        }
        headers
    }
}
