//! One request between two stages: its origin, the facts that the stages collected, and its outcome.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use failwell_fault::Fault;
use failwell_render::Outcome;
use failwell_rpc::{Caller, ReplyTo, Request, TRACEPARENT, TRACESTATE, Trace, meta};

use crate::controls::guards::MessageMeta;
use crate::pipeline::Pipeline;
use crate::record::{ExchangeNotes, VerdictLog};
use crate::request::extension::ResponseContent;
use crate::request::incoming_request::{IncomingMessage, IncomingRequest, RequestEra};
use crate::request::request_port::ContextParts;
use crate::session::question_route::QuestionRoute;
use crate::stages::identify::RequestMeta;
use crate::stages::route::{Route, Target};
use failwell_toolbox::{Client, Context, ExtraParams};

/// The facts about a running exchange, for guards, records and spans.
pub(crate) struct ExchangeLog {
    pub(crate) notes: ExchangeNotes,
    pub(crate) began: Instant,
    plain_method: OnceLock<&'static str>,
    response: OnceLock<ResponseContent>,
    is_reached: OnceLock<()>,
    route: OnceLock<Route>,
}

impl ExchangeLog {
    pub(crate) fn new(began: Instant) -> ExchangeLog {
        ExchangeLog {
            notes: ExchangeNotes::default(),
            response: OnceLock::new(),
            is_reached: OnceLock::new(),
            began,
            plain_method: OnceLock::new(),
            route: OnceLock::new(),
        }
    }

    /// The log for guard verdicts.
    pub(crate) fn verdicts(&self) -> VerdictLog<'_> {
        VerdictLog { notes: &self.notes, began: self.began }
    }

    pub(crate) fn set_plain_method(&self, method: &'static str) {
        let _ = self.plain_method.set(method);
    }

    pub(crate) fn plain_method(&self) -> Option<&'static str> {
        self.plain_method.get().copied()
    }

    pub(crate) fn set_response(&self, response: ResponseContent) {
        let _ = self.response.set(response);
    }

    /// Marks the begin of the handler's work. From here on the request may have an effect.
    pub(crate) fn set_reached(&self) {
        let _ = self.is_reached.set(());
    }

    pub(crate) fn is_reached(&self) -> bool {
        self.is_reached.get().is_some()
    }

    pub(crate) fn set_route(&self, route: Route) {
        let _ = self.route.set(route);
    }

    pub(crate) fn route(&self) -> Option<&Route> {
        self.route.get()
    }

    pub(crate) fn into_parts(self) -> (ExchangeNotes, Option<Route>) {
        (self.notes, self.route.into_inner())
    }
}

/// The keys of `_meta` that apply to one hop only.
const BETWEEN_US: [&str; 8] = [
    meta::PROTOCOL_VERSION,
    meta::CLIENT_CAPABILITIES,
    meta::CLIENT_INFO,
    meta::LOG_LEVEL,
    meta::PROGRESS_TOKEN,
    meta::RELATED_TASK,
    // These two are removed only if we take part in the trace: then we name the next span.
    TRACEPARENT,
    TRACESTATE,
];
/// The number of keys that are removed even without a trace.
const ALWAYS: usize = 6;

/// One exchange after its work, before rendering and recording.
pub(crate) struct Exchange<'a> {
    /// The destination of the response.
    pub(crate) to: ReplyTo,
    pub(crate) outcome: Result<Outcome, Fault>,
    pub(crate) method: Option<&'a str>,
    /// The connection that the request arrived on.
    pub(crate) connection: &'a str,
    /// The caller, if identified.
    pub(crate) caller: Option<&'a Caller>,
    /// The address of a caller that is refused before it is identified.
    pub(crate) refused_from: Option<IpAddr>,
    /// The message, if it could be read.
    pub(crate) request: Option<&'a str>,
    /// The trace, if tracing is on.
    pub(crate) trace: Option<Trace>,
    /// The facts that the stages collected.
    pub(crate) log: ExchangeLog,
}

impl<'a> Exchange<'a> {
    /// The content of the response. A failure is always guarded.
    pub(crate) fn response(&self) -> ResponseContent {
        let response = self.log.response.get().filter(|_| self.outcome.is_ok());
        response.copied().unwrap_or(ResponseContent::Guarded)
    }

    /// A message that is refused before it is parsed.
    pub(crate) fn refused(fault: Fault, to: ReplyTo, log: ExchangeLog, connection: &'a str) -> Exchange<'a> {
        let (method, caller, refused_from, request, trace) = (None, None, None, None, None);
        Exchange { to, outcome: Err(fault), method, connection, caller, refused_from, request, trace, log }
    }
}

/// A request whose client is identified.
pub(crate) struct RequestScope<'a> {
    pub(crate) pipeline: &'a Arc<Pipeline>,
    pub(crate) client: Client,
    pub(crate) incoming: &'a IncomingRequest<'a>,
    pub(crate) meta: RequestMeta<'a>,
    pub(crate) to: &'a ReplyTo,
    pub(crate) log: &'a ExchangeLog,
}

impl RequestScope<'_> {
    /// Creates the context for the handlers of this request.
    pub(crate) fn context(&self, asking: QuestionRoute) -> Result<Context, Fault> {
        self.context_for(self.client.clone(), asking)
    }

    /// Creates the context for a client whose handshake is in progress.
    pub(crate) fn context_for(&self, client: Client, asking: QuestionRoute) -> Result<Context, Fault> {
        let incoming = self.incoming;
        let extra_params = match &incoming.message {
            IncomingMessage::Mcp(request, _) => self.meta.extra_params(request, incoming.trace.as_ref()),
            IncomingMessage::Rpc(_) | IncomingMessage::Rest(_) => ExtraParams::default(),
        };
        Ok(ContextParts {
            client,
            session: incoming.session.cloned(),
            reference: self.to.reference,
            cancel: incoming.cancel.clone(),
            outlet: incoming.outlet.clone(),
            server: self.pipeline.guarded_server(self.log.route()).to_owned(),
            progress_token: self.meta.progress_token.map(|raw| raw.to_json()),
            log_level: incoming.log_level(&self.meta)?,
            asking,
            ports: self.pipeline.ports.clone(),
            extra_params,
            trace: incoming.trace.clone(),
        }
        .into_context())
    }

    /// Creates the context of a lookup. It cannot ask the client, because the answers of a modern client have
    /// not passed the guards yet.
    pub(crate) fn routing_context(&self) -> Result<Context, Fault> {
        self.context(match (&self.incoming.message, self.incoming.session) {
            (IncomingMessage::Mcp(_, RequestEra::Session), Some(session)) => {
                QuestionRoute::Session(session.clone())
            }
            _ => QuestionRoute::Unavailable,
        })
    }

    /// The facts about the message that guards can use.
    pub(crate) fn message_meta(&self) -> MessageMeta<'_> {
        let route = self.log.route();
        let (on, tool) = self.pipeline.subjects(route);
        MessageMeta {
            server: self.pipeline.guarded_server(route),
            on,
            tool,
            method: self.incoming.method(self.log),
            caller: self.incoming.caller.name(),
            to: Some(self.to),
            connection: self.incoming.connection(),
            verdicts: Some(self.log.verdicts()),
        }
    }
}

impl IncomingRequest<'_> {
    /// The method for the record; empty for a call that could not be parsed.
    pub(crate) fn method<'s>(&'s self, log: &ExchangeLog) -> &'s str {
        match &self.message {
            IncomingMessage::Mcp(request, _) => &request.method,
            IncomingMessage::Rpc(_) | IncomingMessage::Rest(_) => log.plain_method().unwrap_or_default(),
        }
    }
}

impl Pipeline {
    /// The server whose guard settings apply; empty without settings per server.
    pub(crate) fn guarded_server<'a>(&'a self, route: Option<&'a Route>) -> &'a str {
        let Some(route) = route.filter(|_| self.ports.guards.knows_servers()) else { return "" };
        match (route.server(), &route.target) {
            (Some(server), _) => server,
            (None, Target::Nothing | Target::Completion(_)) => "",
            (None, _) => self.server.info().name,
        }
    }
}

impl RequestMeta<'_> {
    /// Returns the request members that this program does not read.
    pub(crate) fn extra_params(&self, request: &Request<'_>, trace: Option<&Trace>) -> ExtraParams {
        let ours =
            if trace.is_some() { &BETWEEN_US } else { BETWEEN_US.get(..ALWAYS).unwrap_or(&BETWEEN_US) };
        let more = || request.param("_meta")?.as_object()?.without(ours);
        ExtraParams {
            params: request.other_params(read_here(&request.method)),
            meta: self.has_more.then(more).flatten(),
        }
    }
}

/// The params that are not forwarded, because the next hop names, seals or stores them differently.
fn read_here(method: &str) -> &'static [&'static str] {
    match method {
        "tools/call" => &["_meta", "name", "arguments", "inputResponses", "requestState", "task"],
        "prompts/get" => &["_meta", "name", "inputResponses", "requestState"],
        "resources/read" => &["_meta", "uri", "inputResponses", "requestState"],
        "completion/complete" => &["_meta"],
        _ => &["_meta", "cursor", "uri"],
    }
}
