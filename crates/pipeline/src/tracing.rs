//! The start of an exchange within a trace, and its span at the end.

use std::time::{Duration, SystemTime};

use failwell_fault::Fault;
use failwell_render::codes::fault_code;
use failwell_rpc::Caller;
use failwell_rpc::{Dialect, Id, Raw, ReplyTo, Request};
use failwell_rpc::{RemoteContext, TRACEPARENT, TRACESTATE, Trace};

use crate::pipeline::Pipeline;
use crate::record::ExchangeOutcome;
use crate::span::{Span, SpanKind, SpanOutcome};
use crate::stages::record::{connection, method, transport};

/// The facts about a finished exchange that its span contains.
pub(crate) struct Over<'a> {
    pub(crate) to: &'a ReplyTo,
    pub(crate) ended: SystemTime,
    pub(crate) took: Duration,
    pub(crate) method: Option<&'a str>,
    pub(crate) connection: &'a str,
    pub(crate) caller: Option<&'a Caller>,
    pub(crate) target: Option<&'a str>,
    pub(crate) server: Option<&'a str>,
    pub(crate) ended_as: &'a ExchangeOutcome,
}

impl Pipeline {
    /// The trace context in HTTP headers. Without tracing the headers are not read.
    pub fn carried<'h>(&self, header: impl Fn(&'static str) -> Option<&'h str>) -> Option<RemoteContext> {
        self.ports.recorder.tracer()?;
        RemoteContext::read(header(TRACEPARENT)?, header(TRACESTATE))
    }

    /// The trace of a request: from its `_meta`, else from its HTTP headers, else a new one. `None` if
    /// tracing is off.
    pub fn join_trace(&self, request: &Request<'_>, carried: Option<&RemoteContext>) -> Option<Trace> {
        let tracer = self.ports.recorder.tracer()?;
        let meta = request.param("_meta").and_then(Raw::as_object);
        let text = |name: &str| meta.and_then(|meta| meta.get(name)?.as_str());
        let said =
            text(TRACEPARENT).and_then(|parent| RemoteContext::read(&parent, text(TRACESTATE).as_deref()));
        Some(tracer.join(said.as_ref().or(carried)))
    }

    /// The trace of a call that has no `_meta`.
    pub fn join_plain(&self, carried: Option<&RemoteContext>) -> Option<Trace> {
        Some(self.ports.recorder.tracer()?.join(carried))
    }

    /// Ends the span of an exchange.
    pub(crate) fn end_trace(&self, trace: Trace, over: &Over<'_>) {
        if let Some(tracer) = self.ports.recorder.tracer() {
            tracer.end(over.span(trace));
        }
    }
}

impl Over<'_> {
    fn span(&self, trace: Trace) -> Span {
        let revision = match self.to.dialect {
            Dialect::Mcp(revision) => Some(revision.as_str()),
            Dialect::Rpc | Dialect::Rest(_) => None,
        };
        Span {
            trace,
            side: SpanKind::Server {
                reference: self.to.reference,
                session: connection(self.connection),
                caller: self.caller.map(|caller| caller.name().clone()),
                server: self.server.map(Box::from),
            },
            ended: self.ended,
            took: self.took,
            method: self.method.map(method),
            target: self.target.map(Box::from),
            request_id: self.to.id.as_ref().map(Id::text).map(Box::from),
            revision,
            transport: transport(self.connection),
            outcome: outcome(self.ended_as, self.to),
        }
    }
}

fn outcome(ended: &ExchangeOutcome, to: &ReplyTo) -> SpanOutcome {
    let failed = |fault: &Fault, code| {
        let reason = fault.reason();
        SpanOutcome::Failed { reason: reason.id, title: reason.title, code }
    };
    match ended {
        ExchangeOutcome::Well => SpanOutcome::Well,
        ExchangeOutcome::ToolFailed(_) => SpanOutcome::ToolFailed,
        // The response is a result, so it has no error code.
        ExchangeOutcome::ToolFault(fault) => failed(fault, None),
        ExchangeOutcome::Fault(fault) => failed(fault, Some(fault_code(fault, to).into())),
    }
}
