//! The request path of one tool server: the stages in order, from a request to its response.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use failwell_fault::{Fault, OrFault, reason};
use failwell_journal::Journal;
use failwell_render::Reply;
use failwell_rpc::Caller;
use failwell_rpc::{
    Dialect, ExpectedResult, Incoming, Json, Limits, Message, MessageKind, ReplyTo, Request, Revision,
    UnreadableMessage, read,
};
use futures_util::FutureExt;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::controls::{Controls, UnreadyPart};
use crate::record::ExchangeOutcome;
use crate::recorder::Recorder;
use crate::request::call::{Call, RoutedCall};
use crate::request::context_ports::ContextPorts;
use crate::request::extension::Attachment;
use crate::request::incoming_request::{IncomingMessage, IncomingRequest};
use crate::request::panic::fault_of_panic;
use crate::request::requester::Requester;
use crate::request::scope::{Exchange, ExchangeLog, RequestScope};
use crate::session::Session;
use crate::session::hub::Hub;
use crate::session::listen::tell_session;
use crate::session::seal::Seal;
use crate::session::slots::Slots;
use crate::settings::{PipelineSettings, ToolFailures};
use crate::shutdown::Shutdown;
use crate::stages::guard_in::{GuardedCall, GuardedContent};
use crate::stages::identify::RequestMeta;
use crate::stages::invoke::InvokeResult;
use failwell_toolbox::Context;
use failwell_toolbox::MetricsText;
use failwell_toolbox::ToolServer;

pub struct Pipeline {
    pub(crate) server: Arc<dyn ToolServer>,
    pub(crate) settings: PipelineSettings,
    pub(crate) ports: Arc<ContextPorts>,
    pub(crate) seal: Seal,
    pub(crate) slots: Slots,
    pub(crate) listeners: Slots,
    pub(crate) server_info: Json,
    pub(crate) shutdown: Arc<Shutdown>,
}

/// A response, and the attachment that follows it.
pub struct Answer {
    /// `None` if the request gets no response.
    pub reply: Option<Reply>,
    /// The attachment of a successful response, such as the bytes of a file.
    pub attachment: Option<Attachment>,
}

impl Pipeline {
    /// Creates a pipeline in front of this tool server. Fails if the server cannot be served.
    pub fn new(
        server: Arc<dyn ToolServer>,
        settings: PipelineSettings,
        controls: Controls,
        recorder: impl Into<Recorder>,
    ) -> Result<Arc<Pipeline>, Fault> {
        server.check()?;
        let info = server.info();
        let described = json!({"name": info.name, "title": info.title, "version": info.version});
        Ok(Arc::new(Pipeline {
            server_info: Json::of(&described).or_fault(&reason::SERVER_BUG)?,
            slots: Slots::new(settings.most_in_flight),
            listeners: Slots::new(settings.most_listeners),
            seal: match &settings.seal_key {
                Some(key) => Seal::shared(key, &settings.pipeline),
                None => Seal::fresh()?,
            },
            ports: ContextPorts::new(info.name, controls, recorder.into(), settings.state.node()),
            shutdown: Arc::default(),
            server,
            settings,
        }))
    }

    /// Handles one request. Returns one response, or `None` if it gets none.
    pub async fn handle(self: &Arc<Self>, incoming: IncomingRequest<'_>) -> Option<Reply> {
        self.exchange(&incoming, None).await.reply
    }

    /// Handles a REST request whose call the route table has parsed. A file may follow the response.
    pub async fn handle_call(
        self: &Arc<Self>,
        incoming: IncomingRequest<'_>,
        call: Result<Call<'_>, Fault>,
    ) -> Answer {
        self.exchange(&incoming, Some(call)).await
    }

    async fn exchange(
        self: &Arc<Self>,
        incoming: &IncomingRequest<'_>,
        call: Option<Result<Call<'_>, Fault>>,
    ) -> Answer {
        let _running = self.shutdown.enter();
        let log = ExchangeLog::new(self.begin());
        let mut to = incoming.reply_to();
        let running = AssertUnwindSafe(self.run(incoming, call, &mut to, &log)).catch_unwind();
        let running =
            running.map(|done| done.unwrap_or_else(|payload| Err(fault_of_panic(payload.as_ref()))));
        let invoked = self.shutdown.until_end(pin!(running), &incoming.cancel, || log.is_reached()).await;
        let (outcome, attachment) = match invoked {
            Ok(InvokeResult { outcome, attachment }) => (Ok(outcome), attachment),
            Err(fault) => (Err(fault), None),
        };
        let method = Some(incoming.method(&log)).filter(|method| !method.is_empty());
        let (connection, trace) = (incoming.connection(), incoming.trace.clone());
        let (caller, refused_from, request) = (Some(incoming.caller), None, incoming.text());
        let exchange =
            Exchange { to, outcome, method, connection, caller, refused_from, request, trace, log };
        let reply = self.finish(exchange).await;
        let is_well = reply.as_ref().is_some_and(|reply| reply.status == 200);
        Answer { reply, attachment: attachment.filter(|_| is_well) }
    }

    /// Runs the stages in order, up to the outcome.
    async fn run<'a>(
        self: &Arc<Self>,
        incoming: &IncomingRequest<'a>,
        call: Option<Result<Call<'a>, Fault>>,
        to: &mut ReplyTo,
        log: &ExchangeLog,
    ) -> Result<InvokeResult, Fault> {
        let _running = incoming.register()?;
        let meta = RequestMeta::read(&incoming.message);
        let client = incoming.identify(&meta, self.settings.only)?;
        let call = self.parse(incoming, call, client.revision)?;
        if let Some(name) = call.name() {
            log.notes.set_target(name);
        }
        log.set_plain_method(call.plain_method());
        if let Call::Extension(call) = &call {
            log.set_response(call.response());
        }
        to.asked = self.asked(&call, to.dialect);
        let scope = RequestScope { pipeline: self, client, incoming, meta, to, log };

        let _permit = self.limit_caller(incoming.caller).await?;
        let call = scope.route(call).await?;
        let _tool_permit = match &call {
            RoutedCall::Tool(_, tool) => Some(self.limit_tool(incoming.caller, &**tool).await?),
            RoutedCall::Other(_) => None,
        };
        let content = GuardedContent::of(&call, &incoming.message)?;
        match self.guard_in(content, &scope).await? {
            GuardedCall::AsSent => self.invoke(scope.approve(call).await?, &scope).await,
            // Boxed, because these branches are rare: the future of every call stays small.
            GuardedCall::Content(clean) => {
                let call = call.with_content(clean)?;
                Box::pin(async { self.invoke(scope.approve(call).await?, &scope).await }).await
            }
            GuardedCall::Request(clean) => Box::pin(self.invoke_redacted(&clean, call, scope)).await,
        }
    }

    fn parse<'a>(
        &self,
        incoming: &IncomingRequest<'a>,
        call: Option<Result<Call<'a>, Fault>>,
        revision: Revision,
    ) -> Result<Call<'a>, Fault> {
        match (&incoming.message, call) {
            (_, Some(call)) => call,
            (IncomingMessage::Mcp(request, _), None) => Call::of_mcp(request, revision, self.server.offers()),
            (IncomingMessage::Rpc(request), None) => Call::of_rpc(request),
            (IncomingMessage::Rest(_), None) => Err(Fault::new(&reason::SERVER_BUG)),
        }
    }

    fn asked(&self, call: &Call<'_>, dialect: Dialect) -> ExpectedResult {
        match (call.asked(), dialect, self.settings.tool_failures) {
            (ExpectedResult::Tool, Dialect::Mcp(_), ToolFailures::Error) => ExpectedResult::ToolOrError,
            (asked, ..) => asked,
        }
    }

    /// Parses a request with redacted params again. The target stays, because guards redact arguments, not
    /// names.
    async fn invoke_redacted(
        self: &Arc<Self>,
        clean: &str,
        call: RoutedCall<'_>,
        scope: RequestScope<'_>,
    ) -> Result<InvokeResult, Fault> {
        let unreadable =
            || Fault::new(&reason::SERVER_BUG).note("guard", "a redacted request cannot be read");
        let IncomingMessage::Mcp(_, era) = scope.incoming.message else { return Err(unreadable()) };
        let Incoming::One(Ok(Message::Request(request))) = read(clean.as_bytes(), &Limits::default()) else {
            return Err(unreadable());
        };
        let clean = Call::of_mcp(&request, scope.client.revision, self.server.offers())?;
        let call = call.with_call(clean).ok_or_else(unreadable)?;
        let incoming = scope.incoming.with_message(IncomingMessage::Mcp(request, era));
        let meta = RequestMeta::read(&incoming.message);
        let RequestScope { pipeline, client, to, log, .. } = scope;
        let scope = RequestScope { pipeline, client, incoming: &incoming, meta, to, log };
        self.invoke(scope.approve(call).await?, &scope).await
    }

    /// Counts a message that begins, and returns its start time.
    pub fn begin(&self) -> Instant {
        self.ports.recorder.metrics().begin();
        Instant::now()
    }

    /// Reports a failure outside any request, to the operator only.
    pub fn note(&self, fault: Fault, doing: &'static str) {
        let to = ReplyTo::unreadable(None, Dialect::Mcp(Revision::LATEST));
        self.ports.record_apart(ExchangeOutcome::Fault(Arc::new(fault)), to, doing, "");
    }

    /// Handles bytes that are not a valid message. An invalid response gets no response, because its id is
    /// ours.
    pub async fn refuse_unreadable(
        &self,
        unreadable: UnreadableMessage,
        dialect: Dialect,
        connection: &str,
        caller: Option<&Caller>,
    ) -> Option<Reply> {
        let mut to = ReplyTo::unreadable(unreadable.id, dialect);
        if unreadable.about == MessageKind::Answer {
            to.wants = failwell_rpc::ExpectedReply::Silence;
        }
        let refused = Exchange::refused(unreadable.fault, to, ExchangeLog::new(self.begin()), connection);
        self.finish(Exchange { caller, ..refused }).await
    }

    /// Refuses a message before it is parsed.
    pub async fn refuse(
        &self,
        fault: Fault,
        to: ReplyTo,
        connection: &str,
        from: Requester<'_>,
    ) -> Option<Reply> {
        let refused = Exchange::refused(fault, to, ExchangeLog::new(self.begin()), connection);
        let (caller, refused_from) = from.into_parts();
        self.finish(Exchange { caller, refused_from, ..refused }).await
    }

    /// Refuses a request before any stage. The record contains its method.
    pub async fn refuse_request(
        &self,
        fault: Fault,
        to: ReplyTo,
        request: &Request<'_>,
        connection: &str,
    ) -> Option<Reply> {
        let refused = Exchange::refused(fault, to, ExchangeLog::new(self.begin()), connection);
        let (method, text) = (Some(&*request.method), Some(request.text()));
        self.finish(Exchange { method, request: text, ..refused }).await
    }

    /// Sends change notifications to a session until it ends.
    pub fn forward_changes(&self, session: &Arc<Session>) {
        tokio::spawn(tell_session(session.clone(), self.ports.clone()));
    }

    pub fn hub(&self) -> &Hub {
        &self.ports.hub
    }

    /// The context of work that the program does for itself, outside any request.
    pub fn own_context(&self) -> Context {
        self.ports.own_context()
    }

    /// Returns all metrics as text, for the operator.
    pub fn metrics(&self) -> String {
        self.write_metrics(MetricsText::default())
    }

    /// Returns the metrics without those of servers that are hidden from this caller.
    pub fn metrics_for(&self, reader: &Caller) -> String {
        self.write_metrics(MetricsText::for_reader(reader))
    }

    fn write_metrics(&self, mut out: MetricsText) -> String {
        self.ports.recorder.write_metrics(&mut out);
        let reader = out.reader().cloned();
        self.ports.recorder.metrics().tool_calls().write(&mut out, |server, tool| {
            reader.as_ref().is_none_or(|reader| self.server.shows_tool(server, tool, reader))
        });
        if let Some(write) = &self.ports.controls.metrics {
            write(&mut out);
        }
        self.server.metrics(&mut out);
        out.into_text()
    }

    pub fn recorder(&self) -> &Recorder {
        &self.ports.recorder
    }

    pub fn journal(&self) -> &Journal {
        self.ports.recorder.journal()
    }

    /// Returns the service of this pipeline, if it has this type.
    pub fn service<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.ports.controls.service.as_deref()?.downcast_ref()
    }

    pub fn server(&self) -> &Arc<dyn ToolServer> {
        &self.server
    }

    /// Refuses new requests and ends subscriptions. Running requests continue.
    pub fn refuse_requests(&self) {
        self.shutdown.close();
    }

    /// Fails if requests are refused at present because their records could not be written.
    pub fn check_records(&self) -> Result<(), Fault> {
        self.ports.recorder.admit()
    }

    /// The parts that do not work, as far as this reader may know them; all of them for `None`.
    pub fn unready_parts(&self, reader: Option<&Caller>) -> Vec<UnreadyPart> {
        self.ports.controls.readiness.as_ref().map(|report| report(reader)).unwrap_or_default()
    }

    /// Set when the pipeline begins to refuse new requests.
    pub fn closing(&self) -> &CancellationToken {
        self.shutdown.closing()
    }

    /// Ends all running requests and tasks: the grace period of a shutdown is over. Each request gets
    /// `server/SHUTDOWN` and its record within a second.
    pub fn end_running(&self) {
        self.shutdown.end_running();
    }

    /// The number of requests that have no response yet.
    pub fn running(&self) -> usize {
        self.shutdown.running()
    }

    /// The number of requests that [`Pipeline::end_running`] ended.
    pub fn ended(&self) -> usize {
        self.shutdown.ended()
    }
}
