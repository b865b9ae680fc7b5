//! What the protocol wants in the headers of a request.

use failwell_audit::{TRACEPARENT, TRACESTATE};
use failwell_rpc::{Era, Raw, Revision, meta};
use failwell_server::{Trace, header_value, named_by, repeated_params};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use super::Peer;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The trace a request is part of, as everybody on the way reads it.
pub(super) fn join(headers: &mut HeaderMap, trace: &Trace) {
    let state = trace.state.as_deref().map(str::to_owned);
    for (name, value) in [(TRACEPARENT, Some(trace.header())), (TRACESTATE, state)] {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
}

impl Peer {
    /// The headers of a request, derived from the very params that are sent.
    pub(super) fn headers_for(&self, method: &str, params: &str) -> HeaderMap {
        let mut headers = self.session_headers();
        let params = Raw::written(params).as_object();
        let is_modern = match self.era() {
            Some(era) => era == Era::Modern,
            None if headers.contains_key(SESSION) => false,
            None => params
                .and_then(|params| params.get("_meta")?.as_object()?.get(meta::PROTOCOL_VERSION))
                .is_some(),
        };
        if !is_modern {
            return headers;
        }
        headers.insert(VERSION, HeaderValue::from_static(Revision::V2026_07_28.as_str()));
        let mut put = |name, text: &str| {
            if let Ok(value) = HeaderValue::from_str(&header_value(text)) {
                headers.insert(name, value);
            }
        };
        put(METHOD, method);
        let named = named_by(method).zip(params).and_then(|(member, params)| params.get(member)?.as_str());
        if let Some(named) = &named {
            put(NAME, named);
        }
        if let ("tools/call", Some(tool), Some(params)) = (method, &named, params) {
            for (name, value) in repeated_params(params.get("arguments"), &self.repeated.of(tool)) {
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
        let mut headers = HeaderMap::with_capacity(12);
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
