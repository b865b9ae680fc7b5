//! Spans as they are queued for export: owned and unformatted. Each exchange ends as one.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use failwell_fault::{Fault, Ref};
use failwell_render::codes::fault_code;
use failwell_rpc::{Caller, Dialect, Id, RemoteContext, ReplyTo, SamplingDecision, Trace};
use tokio::sync::mpsc;

use crate::pipeline::Pipeline;
use crate::record::{ExchangeOutcome, Transport};
use crate::stages::record::{connection, method, transport};

/// A finished span.
#[derive(Debug)]
pub struct Span {
    /// The trace id, span id and parent.
    pub trace: Trace,
    pub side: SpanKind,
    pub ended: SystemTime,
    pub took: Duration,
    /// The method, if it could be read.
    pub method: Option<Cow<'static, str>>,
    /// The tool, resource or prompt.
    pub target: Option<Box<str>>,
    pub request_id: Option<Box<str>>,
    /// The MCP revision; `None` for other protocols.
    pub revision: Option<&'static str>,
    pub transport: Transport,
    pub outcome: SpanOutcome,
}

/// The side of a call that a span describes.
#[derive(Debug)]
pub enum SpanKind {
    /// Failwell served the request.
    Server {
        reference: Ref,
        /// The session; empty if it has no name.
        session: Cow<'static, str>,
        /// The caller, if identified.
        caller: Option<Arc<str>>,
        /// The upstream server that the request was for.
        server: Option<Box<str>>,
    },
    /// Failwell called an upstream server.
    Client {
        /// The server's name in the configuration.
        server: Box<str>,
        /// Host and port, for a remote server.
        address: Option<(Box<str>, u16)>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanOutcome {
    Succeeded,
    /// The tool's own result reports a failure.
    ToolFailed,
    Failed {
        /// The reason, from the catalogue.
        reason: &'static str,
        /// The title, from the catalogue.
        title: &'static str,
        /// The error code of the response, if there was one.
        code: Option<i64>,
    },
}

/// The sending side of the span queue. Cloning is cheap, and it never blocks.
#[derive(Debug, Clone)]
pub struct Tracer {
    queue: mpsc::Sender<Box<Span>>,
    dropped: Arc<AtomicU64>,
    one_in: u64,
}

/// The receiving side of the span queue.
#[derive(Debug)]
pub struct Spans {
    /// The spans, in the order they ended.
    pub queue: mpsc::Receiver<Box<Span>>,
    /// Number of spans that did not fit into the queue.
    pub dropped: Arc<AtomicU64>,
}

impl Tracer {
    /// Creates a queue for `most` spans. One in `one_in` of the traces that begin here is sampled.
    pub fn new(most: usize, one_in: u64) -> (Tracer, Spans) {
        let (queue, waiting) = mpsc::channel(most.max(1));
        let dropped = Arc::<AtomicU64>::default();
        (Tracer { queue, dropped: dropped.clone(), one_in }, Spans { queue: waiting, dropped })
    }

    /// Starts the span of a request, within the caller's trace if there is one.
    pub fn join(&self, carried: Option<&RemoteContext>) -> Trace {
        Trace::join(carried, self.one_in)
    }

    /// Queues a sampled span. A span that does not fit is counted as dropped.
    pub fn end(&self, span: Span) {
        if span.trace.sampled == SamplingDecision::Yes && self.queue.try_send(Box::new(span)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The facts about a finished exchange that its span contains.
pub(crate) struct FinishedExchange<'a> {
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
    /// Ends the span of an exchange.
    pub(crate) fn end_trace(&self, trace: Trace, over: &FinishedExchange<'_>) {
        if let Some(tracer) = self.ports.recorder.tracer() {
            tracer.end(over.span(trace));
        }
    }
}

impl FinishedExchange<'_> {
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
        ExchangeOutcome::Succeeded => SpanOutcome::Succeeded,
        ExchangeOutcome::ToolFailed(_) => SpanOutcome::ToolFailed,
        // The response is a result, so it has no error code.
        ExchangeOutcome::ToolFault(fault) => failed(fault, None),
        ExchangeOutcome::Fault(fault) => failed(fault, Some(fault_code(fault, to).into())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, SpanKind, SpanOutcome, Tracer};
    use crate::record::Transport;
    use failwell_rpc::{SamplingDecision, Trace};
    use std::sync::atomic::Ordering;
    use std::time::{Duration, SystemTime};

    fn span(sampled: SamplingDecision) -> Span {
        Span {
            trace: Trace { sampled, ..Trace::join(None, 1) },
            side: SpanKind::Client { server: "a".into(), address: None },
            ended: SystemTime::now(),
            took: Duration::ZERO,
            method: None,
            target: None,
            request_id: None,
            revision: None,
            transport: Transport::Stdio,
            outcome: SpanOutcome::Succeeded,
        }
    }

    #[test]
    fn overflow_is_counted_and_unsampled_spans_are_dropped() {
        let (tracer, mut spans) = Tracer::new(2, 1);
        for sampled in [
            SamplingDecision::No,
            SamplingDecision::Yes,
            SamplingDecision::Yes,
            SamplingDecision::Yes,
            SamplingDecision::No,
        ] {
            tracer.end(span(sampled));
        }
        assert_eq!(spans.dropped.load(Ordering::Relaxed), 1);
        assert!(spans.queue.try_recv().is_ok() && spans.queue.try_recv().is_ok());
        assert!(spans.queue.try_recv().is_err());
    }
}
