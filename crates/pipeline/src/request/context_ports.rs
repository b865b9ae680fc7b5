//! The parts of the program that a handler's context can use: guards, telemetry, change events and tasks. No
//! port refers back to the pipeline, so a long-lived context keeps no pipeline alive.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use failwell_fault::{Fault, Ref};
use failwell_journal::Entry;
use failwell_rpc::{Dialect, Era, Id, ReplyTo, Revision};

use failwell_toolbox::{Client, Context, ExtraParams};

use crate::controls::Controls;
use crate::controls::guards::ContentGuards;
use crate::record::{ExchangeOutcome, Record, Transport};
use crate::recorder::Recorder;
use crate::request::request_port::ContextParts;
use crate::session::Session;
use crate::session::hub::Hub;
use crate::session::question_route::QuestionRoute;
use crate::session::task::Tasks;

pub(crate) struct ContextPorts {
    /// The name of the tool server, in journal and ledger.
    pub(crate) service: &'static str,
    pub(crate) guards: Arc<dyn ContentGuards>,
    pub(crate) controls: Controls,
    pub(crate) recorder: Recorder,
    pub(crate) hub: Hub,
    pub(crate) tasks: Tasks,
}

impl fmt::Debug for ContextPorts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextPorts").field("service", &self.service).finish_non_exhaustive()
    }
}

impl ContextPorts {
    pub(crate) fn new(service: &'static str, controls: Controls, recorder: Recorder) -> Arc<ContextPorts> {
        let (guards, hub) = (controls.guards.clone(), Hub::new());
        let tasks = Tasks::new(hub.clone());
        Arc::new(ContextPorts { service, guards, controls, recorder, hub, tasks })
    }

    /// Records a failure that ends no exchange. It belongs to a task whose request has been answered, or to
    /// no request.
    pub(crate) fn record_apart(
        &self,
        ended_as: ExchangeOutcome,
        to: ReplyTo,
        doing: &'static str,
        connection: &'static str,
    ) {
        let Some(fault) = ended_as.fault().cloned() else { return };
        let (ended, service) = (SystemTime::now(), self.service);
        let (connection, method) = (Cow::Borrowed(connection), Some(Cow::Borrowed(doing)));
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
            transport: Transport::Http,
            caller: None,
            method,
            target: None,
            server: None,
            ended_as,
            bytes_in: 0,
            bytes_out: 0,
            trace: None,
            verdicts: Vec::new(),
            bodies: None,
        }));
    }

    /// Records a failure under the reference of a request that continues.
    pub(crate) fn record_aside(&self, fault: Fault, revision: Revision, reference: Ref) {
        let mut to = ReplyTo::request(Id::from_number(0), Dialect::Mcp(revision));
        (to.id, to.reference) = (None, reference);
        self.record_apart(ExchangeOutcome::Fault(Arc::new(fault)), to, "aside", "");
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
        self.detached_as(session, client, QuestionRoute::Introducing(session.clone()))
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

    /// The parts of a context outside any request: no questions, no log messages, no server.
    pub(crate) fn session_parts(self: &Arc<Self>, session: &Arc<Session>, client: &Client) -> ContextParts {
        ContextParts {
            client: client.clone(),
            session: Some(session.clone()),
            reference: Ref::fresh(),
            cancel: session.ended.child_token(),
            outlet: session.outbound.clone(),
            server: String::new(),
            progress_token: None,
            log_level: None,
            asking: QuestionRoute::Nobody,
            ports: self.clone(),
            extra_params: ExtraParams::default(),
            trace: None,
        }
    }
}
