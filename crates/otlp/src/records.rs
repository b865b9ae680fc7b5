//! Records as OTLP has them: logs, whose body is the record byte for byte, so that its hash still covers it.

use std::borrow::Cow;

use failwell_audit::{Line, Row};
use serde::Serialize;

use crate::any::{Any, Attributes, Resource, Scope, as_text, network, target};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
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
    log_records: Vec<Written<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(serialize_with = "as_text")]
    time_unix_nano: i64,
    #[serde(serialize_with = "as_text")]
    observed_time_unix_nano: i64,
    severity_number: u8,
    severity_text: &'static str,
    event_name: &'static str,
    body: Any<'a>,
    attributes: Attributes<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<Cow<'a, str>>,
}

/// A request of `/v1/logs`.
pub(crate) fn request(rows: &[Row], service: (&'static str, &'static str), node: &str) -> Vec<u8> {
    let log_records = rows.iter().map(written).collect();
    let scope_logs = [ScopeLogs { scope: Scope::of(service), log_records }];
    let request =
        Request { resource_logs: [ResourceLogs { resource: Resource::of(service, node), scope_logs }] };
    // Plain data; it always has words.
    serde_json::to_vec(&request).unwrap_or_default()
}

fn written(row: &Row) -> Written<'_> {
    let mut line = row.line();
    let (severity_number, severity_text) = severity(&line);
    let nanos = row.at.saturating_mul(1_000_000);
    let (trace_id, span_id) = (line.trace_id.take(), line.span_id.take());
    Written {
        time_unix_nano: nanos,
        observed_time_unix_nano: nanos,
        severity_number,
        severity_text,
        event_name: if line.event.is_some() { "failwell.ledger" } else { "failwell.exchange" },
        body: Any::Text(row.body.as_str().into()),
        attributes: attributes(row, line),
        trace_id,
        span_id,
    }
}

fn attributes<'a>(row: &'a Row, line: Line<'static>) -> Attributes<'a> {
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

/// As loud as the log is about the same thing.
fn severity(line: &Line<'_>) -> (u8, &'static str) {
    let reason = line.reason.as_deref().and_then(failwell_fault::reason::find);
    match reason.map(|reason| reason.kind.level().as_str()) {
        Some("error") => (17, "ERROR"),
        Some("warn") => (13, "WARN"),
        _ if line.event.is_some() => (13, "WARN"),
        _ => (9, "INFO"),
    }
}
