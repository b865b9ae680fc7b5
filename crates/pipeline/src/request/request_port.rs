//! The port of one request, through which its handler's context uses the program.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use failwell_fault::{Fault, Ref};
use failwell_rpc::{Json, Trace};
use failwell_toolbox::{
    Answers, Client, Context, Event, ExtraParams, LogLevel, PortFuture, Question, RequestInfo, RequestPort,
    SessionInfo,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::request::context_ports::ContextPorts;
use crate::request::supervise::TaskHandoff;
use crate::session::Session;
use crate::session::question_route::{QuestionOutlet, QuestionRoute};
use crate::session::stream::Stream;

#[derive(Debug)]
pub(crate) struct PipelinePort {
    session: Option<Arc<Session>>,
    outlet: Arc<Stream>,
    server: String,
    asking: QuestionRoute,
    ports: Arc<ContextPorts>,
    handoff: TaskHandoff,
}

pub(crate) struct ContextParts {
    pub(crate) client: Client,
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) reference: Ref,
    pub(crate) cancel: CancellationToken,
    pub(crate) outlet: Arc<Stream>,
    /// The server whose guard settings apply.
    pub(crate) server: String,
    pub(crate) progress_token: Option<Json>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) asking: QuestionRoute,
    pub(crate) ports: Arc<ContextPorts>,
    pub(crate) extra_params: ExtraParams,
    pub(crate) trace: Option<Trace>,
}

impl ContextParts {
    pub(crate) fn into_context(self) -> Context {
        let request = RequestInfo {
            client: self.client,
            reference: self.reference,
            cancel: self.cancel,
            progress_token: self.progress_token,
            log_level: self.log_level,
            extra_params: self.extra_params,
            trace: self.trace,
        };
        let port = PipelinePort {
            session: self.session,
            outlet: self.outlet,
            server: self.server,
            asking: self.asking,
            ports: self.ports,
            handoff: TaskHandoff::default(),
        };
        Context::new(request, port)
    }
}

impl PipelinePort {
    /// Returns the port of a context that this crate created.
    pub(crate) fn of(cx: &Context) -> Option<&PipelinePort> {
        cx.port()
    }

    /// The task that the work of this request may become.
    pub(crate) fn handoff(&self) -> &TaskHandoff {
        &self.handoff
    }

    /// The route for questions of this request to its client.
    pub(crate) fn asking(&self) -> &QuestionRoute {
        &self.asking
    }

    async fn send(&self, frame: String) {
        if let Some(frame) = self.ports.guards.notice(&self.server, frame).await {
            // An error means that the reader is gone. The writer of the response detects that too.
            let _ = self.outlet.push(frame).await;
        }
    }

    /// Shows progress to operators, unless the guards block it.
    async fn show(&self, request: &RequestInfo, params: &Value) {
        let Some(clean) = self.ports.guards.notice(&self.server, params.to_string()).await else { return };
        let Ok(Value::Object(mut data)) = serde_json::from_str(&clean) else { return };
        data.remove("progressToken");
        data.insert("ref".to_owned(), json!(request.reference.to_string()));
        if !self.server.is_empty() {
            data.insert("server".to_owned(), json!(self.server));
        }
        if let Some(observer) = self.ports.recorder.observer() {
            observer.progress(data);
        }
    }

    async fn ask_client(&self, questions: &[(&str, Question)]) -> Result<Answers, Fault> {
        match self.handoff.task() {
            Some(task) => task.ask(questions).await,
            None => {
                let outlet =
                    QuestionOutlet { outlet: &self.outlet, guards: &self.ports.guards, server: &self.server };
                self.asking.ask(questions, outlet).await
            }
        }
    }
}

impl RequestPort for PipelinePort {
    fn notify(&self, frame: String) -> PortFuture<'_, ()> {
        Box::pin(self.send(frame))
    }

    fn ask<'a>(&'a self, questions: &'a [(&'a str, Question)]) -> PortFuture<'a, Result<Answers, Fault>> {
        Box::pin(self.ask_client(questions))
    }

    fn become_task(&self, request: &RequestInfo) -> Result<(), Fault> {
        let task = self.ports.tasks.create(&request.client.caller)?;
        self.handoff.set(task);
        Ok(())
    }

    fn is_task(&self) -> bool {
        self.handoff.task().is_some()
    }

    fn touch_task(&self, message: &str) {
        if let Some(task) = self.handoff.task() {
            task.touch(Some(message.to_owned()));
        }
    }

    fn set_task_status(&self, message: String) {
        if let Some(task) = self.handoff.task() {
            task.tell(message);
        }
    }

    fn announce(&self, event: Event) {
        self.ports.hub.announce(event);
    }

    fn report(&self, request: &RequestInfo, fault: Fault) {
        let connection = self.session.as_ref().map_or("", |session| session.id.as_str());
        self.ports.record_aside(fault, request, connection);
    }

    fn is_watched(&self) -> bool {
        self.ports.recorder.observer().is_some()
    }

    fn show_progress<'a>(&'a self, request: &'a RequestInfo, params: &'a Value) -> PortFuture<'a, ()> {
        Box::pin(self.show(request, params))
    }

    fn pause_stream(&self, retry: Duration) {
        self.outlet.pause(retry);
    }

    fn shares_stream_with(&self, other: &dyn RequestPort) -> bool {
        let other = (other as &dyn Any).downcast_ref::<PipelinePort>();
        other.is_some_and(|other| Arc::ptr_eq(&self.outlet, &other.outlet))
    }

    fn session(&self) -> Option<SessionInfo<'_>> {
        let session = self.session.as_ref()?;
        Some(SessionInfo {
            number: session.number,
            ended: &session.ended,
            chosen_log_level: session.chosen_log_level(),
        })
    }

    fn detached(&self, request: &RequestInfo) -> Option<Context> {
        let session = self.session.as_ref()?;
        match session.client() {
            Some(_) => self.ports.detached(session),
            None => self.ports.detached_introduction(session, &request.client),
        }
    }

    fn round_state(&self, prefix: &str) -> Vec<(String, Json)> {
        match &self.asking {
            QuestionRoute::Rounds(rounds) => rounds.round_state(prefix),
            QuestionRoute::Session(_) | QuestionRoute::Initializing(_) | QuestionRoute::Unavailable => {
                Vec::new()
            }
        }
    }

    fn remember(&self, key: &str, value: Json) {
        if let QuestionRoute::Rounds(rounds) = &self.asking {
            rounds.remember(key, value);
        }
    }
}
