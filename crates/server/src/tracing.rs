//! Where an exchange joins a trace, and what is told of it when it is over.

use std::time::{Duration, SystemTime};

use failwell_audit::{Carried, Ended, Side, Span, SpanOutcome, TRACEPARENT, TRACESTATE, Trace, answer_code};
use failwell_fault::Fault;
use failwell_policy::Caller;
use failwell_rpc::{Face, Id, Raw, ReplyTo, Request};

use crate::close::{connection, method, transport};
use crate::house::House;

/// An exchange that is over, as far as a trace tells of it.
pub(crate) struct Over<'a> {
    pub(crate) to: &'a ReplyTo,
    pub(crate) ended: SystemTime,
    pub(crate) took: Duration,
    pub(crate) method: Option<&'a str>,
    pub(crate) connection: &'a str,
    pub(crate) caller: Option<&'a Caller>,
    pub(crate) target: Option<&'a str>,
    pub(crate) server: Option<&'a str>,
    pub(crate) ended_as: &'a Ended,
}

impl House {
    /// The trace HTTP headers speak of, by name; `None` where nobody asks, without a look at them.
    pub fn carried<'h>(&self, header: impl Fn(&'static str) -> Option<&'h str>) -> Option<Carried> {
        self.books.tracer()?;
        Carried::read(header(TRACEPARENT)?, header(TRACESTATE))
    }

    /// The trace a request is part of: the one its `_meta` speaks of, else the one of the HTTP request it came in,
    /// else a new one. `None` where no traces are kept.
    pub fn join_trace(&self, request: &Request<'_>, carried: Option<&Carried>) -> Option<Trace> {
        let tracer = self.books.tracer()?;
        let meta = request.param("_meta").and_then(Raw::as_object);
        let text = |name: &str| meta.and_then(|meta| meta.get(name)?.as_str());
        let said = text(TRACEPARENT).and_then(|parent| Carried::read(&parent, text(TRACESTATE).as_deref()));
        Some(tracer.join(said.as_ref().or(carried)))
    }

    /// The trace a call is part of that has no `_meta`.
    pub fn join_plain(&self, carried: Option<&Carried>) -> Option<Trace> {
        Some(self.books.tracer()?.join(carried))
    }

    /// An exchange is over; so is its step.
    pub(crate) fn end_trace(&self, trace: Trace, over: &Over<'_>) {
        if let Some(tracer) = self.books.tracer() {
            tracer.end(over.span(trace));
        }
    }
}

impl Over<'_> {
    fn span(&self, trace: Trace) -> Span {
        let revision = match self.to.face {
            Face::Mcp(revision) => Some(revision.as_str()),
            Face::Rpc | Face::Rest(_) => None,
        };
        Span {
            trace,
            side: Side::Server {
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

fn outcome(ended: &Ended, to: &ReplyTo) -> SpanOutcome {
    let failed = |fault: &Fault, code| {
        let reason = fault.reason();
        SpanOutcome::Failed { reason: reason.id, title: reason.title, code }
    };
    match ended {
        Ended::Well => SpanOutcome::Well,
        Ended::ToolFailed(_) => SpanOutcome::ToolFailed,
        // A result, so there is no number.
        Ended::ToolFault(fault) => failed(fault, None),
        Ended::Fault(fault) => failed(fault, Some(answer_code(fault, to).into())),
    }
}
