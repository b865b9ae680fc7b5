//! The trace span of one request to an upstream.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use failwell_fault::{Reason, reason};
use failwell_pipeline::{Span, SpanKind, SpanOutcome, Tracer, Transport};
use failwell_rpc::Revision;
use failwell_toolbox::Trace;
use http::Uri;

use crate::upstream::UpstreamRequest;
use crate::upstream::response::{ParsedResult, RequestError};
use crate::upstream::settings::{Endpoint, UpstreamSettings};

/// An open span. Dropping it records a cancellation.
pub(crate) struct RequestSpan(Option<Box<OpenSpan>>);

struct OpenSpan {
    tracer: Tracer,
    trace: Trace,
    began: Instant,
    method: Cow<'static, str>,
    target: Option<Box<str>>,
    server: Box<str>,
    address: Option<(Box<str>, u16)>,
    transport: Transport,
    /// The request id and the revision, once the request was sent.
    sent: OnceLock<(u64, Revision)>,
}

impl RequestSpan {
    pub(crate) fn begin(
        tracer: &Tracer,
        trace: &Trace,
        settings: &UpstreamSettings,
        request: &UpstreamRequest<'_>,
    ) -> RequestSpan {
        let (transport, address) = match &settings.endpoint {
            Endpoint::Child { .. } => (Transport::Stdio, None),
            Endpoint::Http { url, .. } => (Transport::Http, address(url)),
        };
        RequestSpan(Some(Box::new(OpenSpan {
            tracer: tracer.clone(),
            trace: trace.child(),
            began: Instant::now(),
            method: Cow::Owned(request.method.to_owned()),
            target: request.params.target(),
            server: settings.name.as_str().into(),
            address,
            transport,
            sent: OnceLock::new(),
        })))
    }

    /// The trace context to propagate.
    pub(crate) fn trace(&self) -> Option<&Trace> {
        self.0.as_ref().map(|open| &open.trace)
    }

    pub(crate) fn sent(&self, number: u64, revision: Revision) {
        if let Some(open) = &self.0 {
            let _ = open.sent.set((number, revision));
        }
    }

    pub(crate) fn end(mut self, answer: Result<&ParsedResult, &RequestError>) {
        if let Some(open) = self.0.take() {
            open.end(outcome(answer));
        }
    }
}

impl Drop for RequestSpan {
    fn drop(&mut self) {
        if let Some(open) = self.0.take() {
            open.end(failed(&reason::SERVER_CANCELLED, None));
        }
    }
}

impl OpenSpan {
    fn end(self, outcome: SpanOutcome) {
        let took: Duration = self.began.elapsed();
        let sent = self.sent.get();
        self.tracer.end(Span {
            trace: self.trace,
            side: SpanKind::Client { server: self.server, address: self.address },
            ended: SystemTime::now(),
            took,
            method: Some(self.method),
            target: self.target,
            request_id: sent.map(|(number, _)| number.to_string().into()),
            revision: sent.map(|(_, revision)| revision.as_str()),
            transport: self.transport,
            outcome,
        });
    }
}

fn outcome(answer: Result<&ParsedResult, &RequestError>) -> SpanOutcome {
    match answer {
        Ok(result) if result.is_tool_failure => SpanOutcome::ToolFailed,
        Ok(_) => SpanOutcome::Succeeded,
        Err(error) => failed(error.fault().reason(), error.code()),
    }
}

fn failed(reason: &'static Reason, code: Option<i64>) -> SpanOutcome {
    SpanOutcome::Failed { reason: reason.id, title: reason.title, code }
}

fn address(url: &str) -> Option<(Box<str>, u16)> {
    let uri: Uri = url.parse().ok()?;
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    Some((uri.host()?.into(), uri.port_u16().unwrap_or(usual)))
}
