//! The parts of the program that a handler's context can use: guards, telemetry, change events and tasks. No
//! port refers back to the pipeline, so a long-lived context keeps no pipeline alive.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use failwell_fault::{Fault, Ref};
use failwell_journal::Entry;
use failwell_rpc::{Caller, Dialect, Era, ReplyTo};

use failwell_toolbox::{Client, Context, ExtraParams, RequestInfo};
use tokio_util::sync::CancellationToken;

use crate::controls::Controls;
use crate::controls::guards::ContentGuards;
use crate::record::{ASIDE, ExchangeOutcome, Record};
use crate::recorder::Recorder;
use crate::request::request_port::ContextParts;
use crate::session::Session;
use crate::session::hub::Hub;
use crate::session::question_route::QuestionRoute;
use crate::session::stream::{FrameRetention, Stream};
use crate::session::task::{Task, Tasks};
use crate::stages::record::{connection, transport};

pub(crate) struct ContextPorts {
    /// The name of the tool server, in journal and ledger.
    pub(crate) service: &'static str,
    pub(crate) guards: Arc<dyn ContentGuards>,
    pub(crate) controls: Controls,
    pub(crate) recorder: Recorder,
    pub(crate) hub: Hub,
    pub(crate) tasks: Tasks,
}

/// Where a failure occurred that ends no exchange.
struct FailurePlace<'a> {
    method: &'static str,
    connection: &'a str,
    caller: Option<Arc<str>>,
    server: Option<Box<str>>,
}

impl fmt::Debug for ContextPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextPorts").field("service", &self.service).finish_non_exhaustive()
    }
}

impl ContextPorts {
    /// `node` is the name of this node among several.
    pub(crate) fn new(
        service: &'static str,
        controls: Controls,
        recorder: Recorder,
        node: Option<&str>,
    ) -> Arc<ContextPorts> {
        let (guards, hub) = (controls.guards.clone(), Hub::new());
        let tasks = Tasks::new(hub.clone(), node);
        Arc::new(ContextPorts { service, guards, controls, recorder, hub, tasks })
    }

    /// Records the failure of a task whose request has been answered.
    pub(crate) fn record_task(&self, ended_as: ExchangeOutcome, to: ReplyTo, task: &Task) {
        let caller = Some(task.caller().name().clone());
        let server = task.server().map(Box::from);
        let place = FailurePlace { method: "tools/call", connection: "task", caller, server };
        self.record_failure(ended_as, to, place);
    }

    /// Records a failure that belongs to no request.
    pub(crate) fn record_apart(
        &self,
        ended_as: ExchangeOutcome,
        to: ReplyTo,
        method: &'static str,
        connection: &'static str,
    ) {
        self.record_failure(ended_as, to, FailurePlace { method, connection, caller: None, server: None });
    }

    fn record_failure(&self, ended_as: ExchangeOutcome, to: ReplyTo, place: FailurePlace<'_>) {
        let Some(fault) = ended_as.fault().cloned() else { return };
        let (ended, service) = (SystemTime::now(), self.service);
        let transport = transport(place.connection);
        let (connection, method) = (connection(place.connection), Some(Cow::Borrowed(place.method)));
        self.recorder.report(Entry {
            at: ended,
            service,
            connection: connection.clone(),
            method: method.clone(),
            target: None,
            to: to.clone(),
            trace: None,
            fault,
        });
        let Some(ledger) = self.recorder.ledger() else { return };
        ledger.note(Box::new(Record {
            to,
            ended,
            took: Duration::ZERO,
            service,
            connection,
            transport,
            caller: place.caller,
            refused_from: None,
            method,
            target: None,
            server: place.server,
            ended_as,
            bytes_in: 0,
            bytes_out: 0,
            trace: None,
            verdicts: Vec::new(),
            bodies: None,
        }));
    }

    /// Records a failure that a request survives: under a reference of its own, with that of the request as a note.
    pub(crate) fn record_aside(&self, fault: Fault, request: &RequestInfo, connection: &str) {
        let to = ReplyTo::unreadable(None, Dialect::Mcp(request.client.revision));
        let server = fault.get("server").map(|server| server.to_string().into());
        let fault = fault.note("request", request.reference.to_string());
        let ended_as = ExchangeOutcome::Fault(Arc::new(fault));
        let caller = Some(request.client.caller.name().clone());
        let place = FailurePlace { method: ASIDE, connection, caller, server };
        self.record_failure(ended_as, to, place);
    }

    /// Returns the context of a session outside any request. Returns `None` for a client that is reachable
    /// only within its requests.
    pub(crate) fn detached(self: &Arc<Self>, session: &Arc<Session>) -> Option<Context> {
        self.detached_as(session, session.client()?, QuestionRoute::Session(session.clone()))
    }

    /// Returns the context of a client whose handshake is in progress.
    pub(crate) fn detached_introduction(
        self: &Arc<Self>,
        session: &Arc<Session>,
        client: &Client,
    ) -> Option<Context> {
        self.detached_as(session, client, QuestionRoute::Initializing(session.clone()))
    }

    fn detached_as(
        self: &Arc<Self>,
        session: &Arc<Session>,
        client: &Client,
        asking: QuestionRoute,
    ) -> Option<Context> {
        let log_level = Some(session.log_level());
        let parts = || ContextParts { log_level, asking, ..self.session_parts(session, client) };
        (client.revision.era() == Era::Session).then(|| parts().into_context())
    }

    /// Returns the context of work that the program does for itself.
    pub(crate) fn own_context(self: &Arc<Self>) -> Context {
        let client = Client::plain(Caller::anonymous());
        let (cancel, outlet) = (CancellationToken::new(), Arc::new(Stream::new(FrameRetention::Nothing)));
        self.detached_parts(client, cancel, outlet).into_context()
    }

    /// The parts of a context of a session, outside any request.
    pub(crate) fn session_parts(self: &Arc<Self>, session: &Arc<Session>, client: &Client) -> ContextParts {
        let (cancel, outlet) = (session.ended.child_token(), session.outbound.clone());
        let parts = self.detached_parts(client.clone(), cancel, outlet);
        ContextParts { session: Some(session.clone()), ..parts }
    }

    /// No session, no questions, no log messages, no server.
    fn detached_parts(
        self: &Arc<Self>,
        client: Client,
        cancel: CancellationToken,
        outlet: Arc<Stream>,
    ) -> ContextParts {
        ContextParts {
            client,
            session: None,
            reference: Ref::fresh(),
            cancel,
            outlet,
            server: String::new(),
            progress_token: None,
            log_level: None,
            asking: QuestionRoute::Unavailable,
            ports: self.clone(),
            extra_params: ExtraParams::default(),
            trace: None,
        }
    }
}
