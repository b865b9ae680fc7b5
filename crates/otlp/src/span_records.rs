//! Spans in the OTLP format, with the names of the semantic conventions for MCP.
//!
//! <https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md>

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use failwell_journal::Redactor;
use failwell_pipeline::{Span, SpanKind, SpanOutcome};
use serde::Serialize;

use crate::attributes::{Attributes, Resource, Scope, as_text, network, target};

/// Maximum bytes of a name that a caller chose.
const MOST_NAME: usize = 256;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TraceRequest<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Resource<'a>,
    scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
struct ScopeSpans<'a> {
    scope: Scope,
    spans: Vec<OtlpSpan<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OtlpSpan<'a> {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_state: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    flags: u32,
    name: String,
    kind: u8,
    #[serde(serialize_with = "as_text")]
    start_time_unix_nano: u128,
    #[serde(serialize_with = "as_text")]
    end_time_unix_nano: u128,
    attributes: Attributes<'a>,
    status: SpanStatus,
}

#[derive(Serialize, Default)]
struct SpanStatus {
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u8>,
}

/// Values of OTLP's enumerations.
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;
/// The flags of a sampled span. Only sampled spans are exported.
const SAMPLED: u32 = 1;

/// The body of a request to `/v1/traces`.
pub(crate) fn request(
    spans: &[Span],
    service: (&'static str, &'static str),
    node: &str,
    redactor: &Redactor,
) -> Vec<u8> {
    let spans = spans.iter().map(|span| written(span, redactor)).collect();
    let scope_spans = [ScopeSpans { scope: Scope::new(service), spans }];
    let request = TraceRequest {
        resource_spans: [ResourceSpans { resource: Resource::new(service, node), scope_spans }],
    };
    // Serialization of plain data cannot fail.
    serde_json::to_vec(&request).unwrap_or_default()
}

fn written<'a>(span: &'a Span, redactor: &Redactor) -> OtlpSpan<'a> {
    let end = since_1970(span.ended);
    let clean = |text: &'a str| chosen(text, span, redactor);
    let method = span.method.as_deref().map(clean).unwrap_or(Cow::Borrowed("unreadable"));
    let named = span.target.as_deref().map(clean);
    OtlpSpan {
        trace_id: span.trace.id.to_string(),
        span_id: span.trace.span.to_string(),
        trace_state: span.trace.state.as_deref(),
        parent_span_id: span.trace.parent.map(|parent| parent.to_string()),
        flags: SAMPLED,
        name: name(&method, named.as_deref(), span.outcome),
        kind: if matches!(span.side, SpanKind::Server { .. }) { SERVER } else { CLIENT },
        start_time_unix_nano: end.saturating_sub(span.took).as_nanos(),
        end_time_unix_nano: end.as_nanos(),
        attributes: attributes(span, method, named, clean),
        status: status(span.outcome),
    }
}

/// The span name has low cardinality: it contains no resource URIs and no unknown names.
fn name(method: &str, named: Option<&str>, outcome: SpanOutcome) -> String {
    let exists = !matches!(outcome, SpanOutcome::Failed { reason, .. } if reason.starts_with("mcp/UNKNOWN_"));
    match (method, named.filter(|_| exists)) {
        ("tools/call" | "execute_tool" | "prompts/get", Some(named)) => format!("{method} {named}"),
        _ => method.to_owned(),
    }
}

fn attributes<'a>(
    span: &'a Span,
    method: Cow<'a, str>,
    named: Option<Cow<'a, str>>,
    clean: impl Fn(&'a str) -> Cow<'a, str>,
) -> Attributes<'a> {
    let mut all = Attributes::default();
    target(&mut all, &method, named);
    match span.revision {
        Some(revision) => {
            all.text("mcp.method.name", method);
            all.text("mcp.protocol.version", revision);
        }
        None => all.text("rpc.method", method),
    }
    all.maybe("jsonrpc.request.id", span.request_id.as_deref().map(|id| unquoted(clean(id))));
    network(&mut all, span.transport.as_str());
    match &span.side {
        SpanKind::Server { reference, session, caller, server } => {
            all.text("failwell.ref", reference.to_string());
            if session != span.transport.as_str() {
                all.text("mcp.session.id", session.as_ref());
            }
            all.maybe("failwell.caller", caller.as_deref());
            all.maybe("failwell.server", server.as_deref());
        }
        SpanKind::Client { server, address } => {
            all.text("failwell.server", server.as_ref());
            if let Some((host, port)) = address {
                all.text("server.address", host.as_ref());
                all.number("server.port", i64::from(*port));
            }
        }
    }
    match span.outcome {
        SpanOutcome::Succeeded => {}
        SpanOutcome::ToolFailed => all.text("error.type", "tool_error"),
        SpanOutcome::Failed { reason, code, .. } => {
            all.text("error.type", reason);
            all.maybe("rpc.response.status_code", code.map(|code| code.to_string()));
        }
    }
    all
}

fn status(outcome: SpanOutcome) -> SpanStatus {
    match outcome {
        SpanOutcome::Succeeded => SpanStatus::default(),
        SpanOutcome::ToolFailed => SpanStatus { message: None, code: Some(ERROR) },
        SpanOutcome::Failed { title, .. } => SpanStatus { message: Some(title), code: Some(ERROR) },
    }
}

/// Redacts a name that a caller chose. Existing names are harmless; unknown names and URIs may contain
/// anything.
fn chosen<'a>(text: &'a str, span: &Span, redactor: &Redactor) -> Cow<'a, str> {
    let harmless = span.outcome == SpanOutcome::Succeeded && !text.contains(':') && text.len() <= 128;
    if harmless || text.len() <= 12 {
        return Cow::Borrowed(text);
    }
    let mut clean = redactor(text);
    clean.truncate(clean.floor_char_boundary(MOST_NAME));
    Cow::Owned(clean)
}

/// The id without JSON quotes, as the conventions require.
fn unquoted(id: Cow<'_, str>) -> Cow<'_, str> {
    match id.strip_prefix('"').and_then(|id| id.strip_suffix('"')) {
        Some(inner) => Cow::Owned(inner.to_owned()),
        None => id,
    }
}

fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}
