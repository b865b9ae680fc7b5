//! Steps of traces, as they are handed over for export: everything owned, nothing formatted.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use failwell_fault::Ref;
use tokio::sync::mpsc;

use crate::record::Transport;
use crate::trace::{Carried, Sampled, Trace};

/// One step that is over.
#[derive(Debug)]
pub struct Span {
    /// Its place in the trace.
    pub trace: Trace,
    /// Whose side of a call it is.
    pub side: Side,
    /// When it ended.
    pub ended: SystemTime,
    /// How long it took.
    pub took: Duration,
    /// The method, if it could be read.
    pub method: Option<Cow<'static, str>>,
    /// The tool, resource or prompt it was about.
    pub target: Option<Box<str>>,
    /// The id of the request.
    pub request_id: Option<Box<str>>,
    /// The revision of MCP, where it was MCP.
    pub revision: Option<&'static str>,
    /// How the other side was reached.
    pub transport: Transport,
    /// What it came to.
    pub outcome: SpanOutcome,
}

/// Whose side of a call a step is.
#[derive(Debug)]
pub enum Side {
    /// We were asked.
    Server {
        /// The reference of the exchange.
        reference: Ref,
        /// The session; empty when it has no name.
        session: Cow<'static, str>,
        /// Who asked, once that is known.
        caller: Option<Arc<str>>,
        /// The server behind the gateway that was meant.
        server: Option<Box<str>>,
    },
    /// We asked a server behind us.
    Client {
        /// Its name in the configuration.
        server: Box<str>,
        /// Where it is, when it is somewhere else.
        address: Option<(Box<str>, u16)>,
    },
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanOutcome {
    /// It worked.
    Well,
    /// A tool said itself that it failed.
    ToolFailed,
    /// It failed.
    Failed {
        /// Why, from the catalogue.
        reason: &'static str,
        /// What went wrong, in the catalogue's words.
        title: &'static str,
        /// The number of the answer, where there was one.
        code: Option<i64>,
    },
}

/// Where steps are put. Cheap to clone; never waits.
#[derive(Debug, Clone)]
pub struct Tracer {
    queue: mpsc::Sender<Box<Span>>,
    dropped: Arc<AtomicU64>,
    one_in: u64,
}

/// The other end: what is to be exported.
#[derive(Debug)]
pub struct Spans {
    /// The steps, in the order they ended.
    pub queue: mpsc::Receiver<Box<Span>>,
    /// How many did not fit.
    pub dropped: Arc<AtomicU64>,
}

impl Tracer {
    /// A place for at most so many steps; of traces that begin here, one in so many is sampled.
    pub fn new(most: usize, one_in: u64) -> (Tracer, Spans) {
        let (queue, waiting) = mpsc::channel(most.max(1));
        let dropped = Arc::<AtomicU64>::default();
        (Tracer { queue, dropped: dropped.clone(), one_in }, Spans { queue: waiting, dropped })
    }

    /// The step that a request begins.
    pub fn join(&self, carried: Option<&Carried>) -> Trace {
        Trace::join(carried, self.one_in)
    }

    /// Hands a step over. What does not fit is counted.
    pub fn end(&self, span: Span) {
        if span.trace.sampled == Sampled::Yes && self.queue.try_send(Box::new(span)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Side, Span, SpanOutcome, Tracer};
    use crate::record::Transport;
    use crate::trace::{Sampled, Trace};
    use std::sync::atomic::Ordering;
    use std::time::{Duration, SystemTime};

    fn span(sampled: Sampled) -> Span {
        Span {
            trace: Trace { sampled, ..Trace::join(None, 1) },
            side: Side::Client { server: "a".into(), address: None },
            ended: SystemTime::now(),
            took: Duration::ZERO,
            method: None,
            target: None,
            request_id: None,
            revision: None,
            transport: Transport::Stdio,
            outcome: SpanOutcome::Well,
        }
    }

    #[test]
    fn what_does_not_fit_is_counted_and_what_is_not_sampled_is_not_kept() {
        let (tracer, mut spans) = Tracer::new(2, 1);
        for sampled in [Sampled::No, Sampled::Yes, Sampled::Yes, Sampled::Yes, Sampled::No] {
            tracer.end(span(sampled));
        }
        assert_eq!(spans.dropped.load(Ordering::Relaxed), 1);
        assert!(spans.queue.try_recv().is_ok() && spans.queue.try_recv().is_ok());
        assert!(spans.queue.try_recv().is_err());
    }
}
