//! One request as a transport hands it over, in any dialect.

use std::sync::Arc;

use failwell_rpc::Caller;
use failwell_rpc::{Dialect, Raw, ReplyTo, Request, Revision, meta};
use failwell_rpc::{RemoteContext, TRACEPARENT, TRACESTATE, Trace};
use tokio_util::sync::CancellationToken;

use crate::pipeline::Pipeline;
use crate::session::stream::{FrameRetention, Stream};
use crate::session::{Session, SharedIds};
use crate::stages::identify::Headers;

/// A request with all facts about its origin.
#[derive(Debug)]
pub struct IncomingRequest<'a> {
    pub message: IncomingMessage<'a>,
    pub caller: &'a Caller,
    /// The session of the request: always in the session era, and on stdio.
    pub session: Option<&'a Arc<Session>>,
    /// The connection that the request arrived on. A session may outlive it.
    pub connection: &'a str,
    /// Whether ids may repeat.
    pub ids: SharedIds,
    /// The stream for notifications about the request.
    pub outlet: Arc<Stream>,
    /// Set when the caller cancels the request.
    pub cancel: CancellationToken,
    /// The trace of the request, if tracing is on; see [`Pipeline::join_trace`].
    pub trace: Option<Trace>,
}

#[derive(Debug)]
pub enum IncomingMessage<'a> {
    Mcp(Request<'a>, RequestEra<'a>),
    /// A plain JSON-RPC 2.0 request, at `/rpc`.
    Rpc(Request<'a>),
    /// A REST request, whose call the route table has parsed.
    Rest(RestRequest<'a>),
}

#[derive(Debug, Clone, Copy)]
pub struct RestRequest<'a> {
    /// One of the two REST dialects.
    pub dialect: Dialect,
    /// The body, if it is text.
    pub body: Option<&'a str>,
}

#[derive(Debug, Clone, Copy)]
pub enum RequestEra<'a> {
    Session,
    /// Stateless. Over HTTP, headers must agree with the body.
    Modern(Option<&'a Headers>),
}

/// Whether a request declares the modern era.
pub fn claims_modern(request: &Request<'_>) -> bool {
    request.meta(meta::PROTOCOL_VERSION).is_some()
}

impl<'a> IncomingRequest<'a> {
    /// Creates a request of a client that cannot be notified or asked: `/rpc` and REST.
    pub fn plain(
        message: IncomingMessage<'a>,
        caller: &'a Caller,
        connection: &'a str,
        cancel: CancellationToken,
        trace: Option<Trace>,
    ) -> IncomingRequest<'a> {
        let (ids, outlet) = (SharedIds::Allowed, Arc::new(Stream::new(FrameRetention::Nothing)));
        IncomingRequest { message, caller, session: None, connection, ids, outlet, cancel, trace }
    }

    /// Creates a call from within the program, with a response in this dialect; see
    /// [`Pipeline::handle_call`](crate::Pipeline::handle_call).
    pub fn in_process(dialect: Dialect, caller: &'a Caller) -> IncomingRequest<'a> {
        let message = IncomingMessage::Rest(RestRequest { dialect, body: None });
        IncomingRequest::plain(message, caller, "", CancellationToken::new(), None)
    }

    /// Returns the same request with another message.
    pub(crate) fn with_message<'b>(&'b self, message: IncomingMessage<'b>) -> IncomingRequest<'b> {
        IncomingRequest {
            message,
            caller: self.caller,
            session: self.session,
            connection: self.connection,
            ids: self.ids,
            outlet: self.outlet.clone(),
            cancel: self.cancel.clone(),
            trace: self.trace.clone(),
        }
    }

    /// The destination of the response. It is captured before any work starts.
    pub(crate) fn reply_to(&self) -> ReplyTo {
        match &self.message {
            IncomingMessage::Mcp(request, _) => {
                ReplyTo::request(request.id.clone(), Dialect::Mcp(self.revision()))
            }
            IncomingMessage::Rpc(request) => ReplyTo::request(request.id.clone(), Dialect::Rpc),
            IncomingMessage::Rest(rest) => ReplyTo::unreadable(None, rest.dialect),
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        match &self.message {
            IncomingMessage::Mcp(_, RequestEra::Session) => {
                self.session.map_or(Revision::LATEST_SESSION, |session| session.revision())
            }
            _ => Revision::LATEST,
        }
    }

    pub(crate) fn connection(&self) -> &str {
        self.session.map_or(self.connection, |session| session.id.as_str())
    }

    /// The JSON-RPC request; `None` for REST.
    pub(crate) fn request(&self) -> Option<&Request<'a>> {
        match &self.message {
            IncomingMessage::Mcp(request, _) | IncomingMessage::Rpc(request) => Some(request),
            IncomingMessage::Rest(_) => None,
        }
    }

    /// The text of the request, for the record.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.message {
            IncomingMessage::Mcp(request, _) | IncomingMessage::Rpc(request) => Some(request.text()),
            IncomingMessage::Rest(rest) => rest.body,
        }
    }
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
        let envelope =
            text(TRACEPARENT).and_then(|parent| RemoteContext::read(&parent, text(TRACESTATE).as_deref()));
        Some(tracer.join(envelope.as_ref().or(carried)))
    }

    /// The trace of a call that has no `_meta`.
    pub fn join_plain(&self, carried: Option<&RemoteContext>) -> Option<Trace> {
        Some(self.ports.recorder.tracer()?.join(carried))
    }
}
