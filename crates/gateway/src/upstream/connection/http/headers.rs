//! The request headers that MCP requires.

use failwell_connect::HeadLines;
use failwell_pipeline::{header_value, named_by, repeated_params};
use failwell_rpc::{Era, Raw, meta};
use failwell_rpc::{TRACEPARENT, TRACESTATE};
use failwell_toolbox::Trace;

use super::StreamableHttp;

const SESSION_ERA: &str = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
const MODERN: &str = "content-type: application/json\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n";
const VERSION: &str = "mcp-protocol-version";
const SESSION: &str = "mcp-session-id";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const LAST_EVENT: &str = "last-event-id";

/// Adds the W3C trace context.
pub(super) fn join(headers: &mut HeadLines, trace: &Trace) {
    headers.put(TRACEPARENT, trace.header());
    if let Some(state) = &trace.state {
        headers.put(TRACESTATE, &**state);
    }
}

impl StreamableHttp {
    /// The headers of a request, derived from the serialized params.
    pub(super) fn headers_for(&self, method: &str, params: Raw<'_>) -> HeadLines {
        if !self.is_modern(params) {
            return self.session_headers();
        }
        let mut headers = HeadLines::written(MODERN).with(METHOD, header_value(method).as_bytes());
        let params = params.as_object();
        let named = named_by(method).zip(params).and_then(|(member, params)| params.get(member)?.as_str());
        let Some(named) = named else { return headers };
        headers.put(NAME, header_value(&named).as_bytes());
        let params_in_headers =
            if method == "tools/call" { self.header_index.get(&named) } else { Vec::new() };
        // Arguments can be large, so they are parsed only if a header needs one.
        if let (false, Some(params)) = (params_in_headers.is_empty(), params) {
            for (name, value) in repeated_params(params.get("arguments"), &params_in_headers) {
                headers.put(&format!("mcp-param-{name}"), value);
            }
        }
        headers
    }

    /// Whether to send modern headers. Before the handshake, the params decide.
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

    pub(super) fn session_headers(&self) -> HeadLines {
        self.in_session(HeadLines::written(SESSION_ERA))
    }

    /// The headers that open or resume an event stream.
    pub(super) fn stream_headers(&self, after: Option<&str>) -> HeadLines {
        let mut headers = self.in_session(HeadLines::written("accept: text/event-stream\r\n"));
        if let Some(after) = after {
            headers.put(LAST_EVENT, after);
        }
        headers
    }

    fn in_session(&self, mut headers: HeadLines) -> HeadLines {
        if let Some(session) = &self.state.lock().session {
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
