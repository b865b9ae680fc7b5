//! One request between two stages: its origin, and the facts that the stages collected.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use failwell_fault::Fault;
use failwell_rpc::ReplyTo;

use crate::controls::guards::MessageMeta;
use crate::pipeline::Pipeline;
use crate::record::{ExchangeNotes, VerdictLog};
use crate::request::incoming_request::{IncomingMessage, IncomingRequest, RequestEra};
use crate::request::request_port::ContextParts;
use crate::session::question_route::QuestionRoute;
use crate::stages::identify::RequestMeta;
use crate::stages::route::{RoutedCall, Target};
use failwell_toolbox::{Client, Context, ExtraParams};

/// The facts about a running exchange, for guards, records and spans.
pub(crate) struct ExchangeLog {
    pub(crate) notes: ExchangeNotes,
    pub(crate) began: Instant,
    plain_method: OnceLock<&'static str>,
    is_secret: OnceLock<()>,
    routed: OnceLock<RoutedCall>,
}

impl ExchangeLog {
    pub(crate) fn new(began: Instant) -> ExchangeLog {
        ExchangeLog {
            notes: ExchangeNotes::default(),
            is_secret: OnceLock::new(),
            began,
            plain_method: OnceLock::new(),
            routed: OnceLock::new(),
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

    /// Marks a response that shows a secret, once. No guard redacts it, and no record contains it.
    pub(crate) fn set_secret(&self) {
        let _ = self.is_secret.set(());
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.is_secret.get().is_some()
    }

    pub(crate) fn set_route(&self, routed: RoutedCall) {
        let _ = self.routed.set(routed);
    }

    pub(crate) fn routed(&self) -> Option<&RoutedCall> {
        self.routed.get()
    }

    pub(crate) fn into_parts(self) -> (ExchangeNotes, Option<RoutedCall>) {
        (self.notes, self.routed.into_inner())
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
            server: self.pipeline.guarded_server(self.log.routed()).to_owned(),
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
            _ => QuestionRoute::Nobody,
        })
    }

    /// The facts about the message that guards can use.
    pub(crate) fn message_meta(&self) -> MessageMeta<'_> {
        let routed = self.log.routed();
        let (on, tool) = self.pipeline.subjects(routed);
        MessageMeta {
            server: self.pipeline.guarded_server(routed),
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
    pub(crate) fn guarded_server<'a>(&'a self, routed: Option<&'a RoutedCall>) -> &'a str {
        let Some(routed) = routed.filter(|_| self.ports.guards.knows_servers()) else { return "" };
        match (routed.server(), &routed.target) {
            (Some(server), _) => server,
            (None, Target::Nothing | Target::Completion(_)) => "",
            (None, _) => self.server.info().name,
        }
    }
}
