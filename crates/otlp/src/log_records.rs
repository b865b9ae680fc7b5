//! Records in the OTLP log format. The body is the record byte for byte, so that its hash stays valid.

use std::borrow::Cow;

use failwell_audit::{RecordLine, Row};
use failwell_fault::ReasonRegistry;
use serde::Serialize;

use crate::attributes::{AnyValue, Attributes, Resource, Scope, as_text, network, target};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogsRequest<'a> {
    resource_logs: [ResourceLogs<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceLogs<'a> {
    resource: Resource<'a>,
    scope_logs: [ScopeLogs<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeLogs<'a> {
    scope: Scope,
    log_records: Vec<LogRecord<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogRecord<'a> {
    #[serde(serialize_with = "as_text")]
    time_unix_nano: i64,
    #[serde(serialize_with = "as_text")]
    observed_time_unix_nano: i64,
    severity_number: u8,
    severity_text: &'static str,
    event_name: &'static str,
    body: AnyValue<'a>,
    attributes: Attributes<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<Cow<'a, str>>,
}

/// The body of a request to `/v1/logs`.
pub(crate) fn request(
    rows: &[Row],
    service: (&'static str, &'static str),
    node: &str,
    reasons: &ReasonRegistry,
) -> Vec<u8> {
    let log_records = rows.iter().map(|row| written(row, reasons)).collect();
    let scope_logs = [ScopeLogs { scope: Scope::new(service), log_records }];
    let request =
        LogsRequest { resource_logs: [ResourceLogs { resource: Resource::new(service, node), scope_logs }] };
    // Serialization of plain data cannot fail.
    serde_json::to_vec(&request).unwrap_or_default()
}

fn written<'a>(row: &'a Row, reasons: &ReasonRegistry) -> LogRecord<'a> {
    let mut line = row.line();
    let (severity_number, severity_text) = severity(&line, reasons);
    let nanos = row.at.saturating_mul(1_000_000);
    let (trace_id, span_id) = (line.trace_id.take(), line.span_id.take());
    LogRecord {
        time_unix_nano: nanos,
        observed_time_unix_nano: nanos,
        severity_number,
        severity_text,
        event_name: if line.event.is_some() { "failwell.ledger" } else { "failwell.exchange" },
        body: AnyValue::Text(row.body.as_str().into()),
        attributes: attributes(row, line),
        trace_id,
        span_id,
    }
}

fn attributes<'a>(row: &'a Row, line: RecordLine<'static>) -> Attributes<'a> {
    let mut all = Attributes::default();
    let method = line.method.unwrap_or_default();
    target(&mut all, &method, line.target);
    let name = if line.revision.is_some() { "mcp.method.name" } else { "rpc.method" };
    all.text(name, method);
    all.maybe("mcp.protocol.version", line.revision);
    network(&mut all, &line.transport);
    if line.connection_id != line.transport {
        all.text("mcp.session.id", line.connection_id);
    }
    all.text("failwell.ref", line.reference);
    all.text("failwell.outcome", line.outcome.clone());
    all.maybe("failwell.caller", line.caller);
    all.maybe("failwell.server", line.server);
    match line.reason {
        Some(reason) => all.text("error.type", reason),
        None if line.outcome == "tool_failed" => all.text("error.type", "tool_error"),
        None => {}
    }
    all.maybe("rpc.response.status_code", line.code.map(|code| code.to_string()));
    all.number("failwell.duration_us", i64::try_from(line.duration_us).unwrap_or(i64::MAX));
    all.number("failwell.record.seq", row.head.seq);
    all.text("failwell.record.hash", row.head.hash.to_string());
    all
}

/// The severity is the log level of the reason.
fn severity(line: &RecordLine<'_>, reasons: &ReasonRegistry) -> (u8, &'static str) {
    let reason = line.reason.as_deref().and_then(|id| reasons.find(id));
    match reason.map(|reason| reason.kind.level().as_str()) {
        Some("error") => (17, "ERROR"),
        Some("warn") => (13, "WARN"),
        _ if line.event.is_some() => (13, "WARN"),
        _ => (9, "INFO"),
    }
}
