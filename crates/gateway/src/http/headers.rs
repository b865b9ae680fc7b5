//! What the protocol wants in the headers of a request.

use failwell_audit::{TRACEPARENT, TRACESTATE};
use failwell_rpc::{Era, Raw, meta};
use failwell_server::{Trace, header_value, named_by, repeated_params};
use failwell_transport::HeadLines;

use super::Peer;

/// What goes with every message of the session era.
const SESSION_ERA: &str = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
/// What goes with every message of the modern era.
const MODERN: &str = "content-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n";
const VERSION: &str = "mcp-protocol-version";
const SESSION: &str = "mcp-session-id";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const LAST_EVENT: &str = "last-event-id";

/// The trace a request is part of, as everybody on the way reads it.
pub(super) fn join(headers: &mut HeadLines, trace: &Trace) {
    headers.put(TRACEPARENT, trace.header());
    if let Some(state) = &trace.state {
        headers.put(TRACESTATE, &**state);
    }
}

impl Peer {
    /// The headers of a request, derived from the very params that are sent.
    pub(super) fn headers_for(&self, method: &str, params: Raw<'_>) -> HeadLines {
        if !self.is_modern(params) {
            return self.session_headers();
        }
        let mut headers = HeadLines::written(MODERN).with(METHOD, header_value(method).as_bytes());
        let params = params.as_object();
        let named = named_by(method).zip(params).and_then(|(member, params)| params.get(member)?.as_str());
        let Some(named) = named else { return headers };
        headers.put(NAME, header_value(&named).as_bytes());
        let repeated = if method == "tools/call" { self.repeated.of(&named) } else { Vec::new() };
        // Arguments can be large, so they are looked for only where a tool wants some repeated.
        if let (false, Some(params)) = (repeated.is_empty(), params) {
            for (name, value) in repeated_params(params.get("arguments"), &repeated) {
                headers.put(&format!("mcp-param-{name}"), value);
            }
        }
        headers
    }

    /// Whether the upstream is of the modern era; before that is settled, the request itself says what it takes.
    fn is_modern(&self, params: Raw<'_>) -> bool {
        match self.era() {
            Some(era) => era == Era::Modern,
            None if self.has_session() => false,
            None => {
                let meta = params.as_object().and_then(|params| params.get("_meta")?.as_object());
                meta.is_some_and(|meta| meta.get(meta::PROTOCOL_VERSION).is_some())
            }
        }
    }

    /// The headers of a message of the session era.
    pub(super) fn session_headers(&self) -> HeadLines {
        self.in_session(HeadLines::written(SESSION_ERA))
    }

    /// The headers of a request for a stream, taken up again after the given event.
    pub(super) fn stream_headers(&self, after: Option<&str>) -> HeadLines {
        let mut headers = self.in_session(HeadLines::written("accept: text/event-stream\r\n"));
        if let Some(after) = after {
            headers.put(LAST_EVENT, after);
        }
        headers
    }

    fn in_session(&self, mut headers: HeadLines) -> HeadLines {
        if let Some(session) = &self.lock().session {
            headers.put(SESSION, session);
        }
        if let Some(revision) = self.revision.get().filter(|revision| revision.has_version_header()) {
            headers.put(VERSION, revision.as_str());
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::{MODERN, VERSION};
    use failwell_rpc::Revision;

    #[test]
    fn the_version_that_is_always_sent_is_the_modern_one() {
        let line = format!("{VERSION}: {}\r\n", Revision::V2026_07_28.as_str());
        assert!(MODERN.ends_with(&line));
    }
}
