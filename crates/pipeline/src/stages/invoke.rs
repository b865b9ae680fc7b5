//! Stage `invoke`: runs each call under a deadline, with panics caught.

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::{Effect, Fault, OrFault, reason};
use failwell_render::{Cache, CacheScope, Outcome, ResultKind};
use failwell_rpc::{Dialect, Era, Json, Raw, Revision};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::controls::approvals::ApprovalGrant;
use crate::pipeline::Pipeline;
use crate::request::call::{
    InitializeParams, OtherCall, PromptCall, ReadCall, RoundParams, STATE, ServerCall,
};
use crate::request::digest::binding;
use crate::request::extension::{Attachment, ExtensionCall, ExtensionOutcome, ExtensionRequest};
use crate::request::incoming_request::{IncomingMessage, RequestEra};
use crate::request::request_port::PipelinePort;
use crate::request::scope::RequestScope;
use crate::request::supervise::SupervisedWork;
use crate::session::Session;
use crate::session::listen::{Filter, Subscription};
use crate::session::nodes::fault_of_other_node;
use crate::session::question_route::{QuestionRoute, Rounds};
use crate::session::task::Task;
use crate::stages::approve::{ApprovedCall, ApprovedTool};
use failwell_toolbox::Context;
use failwell_toolbox::ToolOutcome;
use failwell_toolbox::Work;
use failwell_toolbox::{Capability, Client, TASKS_EXTENSION};
use failwell_toolbox::{Completion, List, Support};
use failwell_toolbox::{CompletionTarget, Lookup, PromptTarget, ResourceTarget};

/// A resource may change at any time.
const DO_NOT_KEEP: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };
/// Our own introduction changes only with the program.
const OF_OURS: Cache = Cache { ttl_ms: 60_000, scope: CacheScope::Public };
/// Servers behind this one come and go, and callers see different ones.
const OF_OTHERS: Cache = Cache { ttl_ms: 5_000, scope: CacheScope::Private };

/// The outcome of a call, and the attachment of its response.
pub(crate) struct InvokeResult {
    pub(crate) outcome: Outcome,
    pub(crate) attachment: Option<Attachment>,
}

impl From<Outcome> for InvokeResult {
    fn from(outcome: Outcome) -> InvokeResult {
        InvokeResult { outcome, attachment: None }
    }
}

impl Pipeline {
    pub(crate) async fn invoke(
        self: &Arc<Self>,
        call: ApprovedCall<'_>,
        scope: &RequestScope<'_>,
    ) -> Result<InvokeResult, Fault> {
        match call {
            ApprovedCall::Tool(call) => scope.call_tool(call).await.map(InvokeResult::from),
            // Boxed, because these branches are rare and large: the future of every tool call stays small.
            ApprovedCall::Other(call) => Box::pin(self.invoke_other(call, scope)).await,
        }
    }

    async fn invoke_other(
        self: &Arc<Self>,
        call: OtherCall<'_>,
        scope: &RequestScope<'_>,
    ) -> Result<InvokeResult, Fault> {
        let outcome = match call {
            OtherCall::Read(call, resource) => scope.read(call, resource).await,
            OtherCall::Prompt(call, prompt) => scope.prompt(call, prompt).await,
            OtherCall::Complete(wanted, target) => scope.complete(wanted, target).await,
            OtherCall::Watch(uri, resource) => scope.watch(&uri, resource).await,
            OtherCall::Unwatch(uri, resource) => scope.unwatch(&uri, resource).await,
            OtherCall::Server(call) => self.answer(call, scope).await,
            OtherCall::Extension(call, resource) => return scope.serve_extension(call, resource).await,
        };
        outcome.map(InvokeResult::from)
    }

    async fn answer(
        self: &Arc<Self>,
        call: ServerCall<'_>,
        scope: &RequestScope<'_>,
    ) -> Result<Outcome, Fault> {
        let incoming = scope.incoming;
        match call {
            ServerCall::Initialize(params) => self.initialize(params, scope).await,
            ServerCall::Discover => self.discover(scope).await,
            ServerCall::Ping => nothing(),
            ServerCall::SetLevel(level) => {
                let session = incoming.session.or_fault(&reason::SERVER_BUG)?;
                session.set_log_level(level);
                self.keep_changed(session).await?;
                nothing()
            }
            ServerCall::List(list, cursor) => scope.list(list, cursor).await,
            ServerCall::Listen(filter) => scope.listen(filter).await,
            ServerCall::TaskGet(id) => Ok(Outcome::complete(self.find_task(&id, scope).await?.account()?)),
            ServerCall::TaskUpdate(id, responses) => {
                self.find_task(&id, scope).await?.update(responses)?;
                nothing()
            }
            ServerCall::TaskCancel(id) => {
                self.find_task(&id, scope).await?.cancel.cancel();
                nothing()
            }
        }
    }

    /// The caller's task. A task of another node fails in a way that says so.
    async fn find_task(&self, id: &str, scope: &RequestScope<'_>) -> Result<Arc<Task>, Fault> {
        scope.need_tasks()?;
        match self.ports.tasks.find(id, scope.incoming.caller) {
            Ok(task) => Ok(task),
            Err(unknown) => Err(fault_of_other_node(&**self.state(), id).await.unwrap_or(unknown)),
        }
    }

    async fn initialize(
        self: &Arc<Self>,
        params: InitializeParams,
        scope: &RequestScope<'_>,
    ) -> Result<Outcome, Fault> {
        let InitializeParams { version, capabilities } = params;
        let (revision, incoming) = (session_revision(&version), scope.incoming);
        // The client with the capabilities it is declaring: the preparation may depend on them.
        let client = Client::new(incoming.caller.clone(), revision, capabilities.clone());
        let guidance = scope.prepare(client).await?;
        let session: &Arc<Session> = incoming.session.or_fault(&reason::SERVER_BUG)?;
        session.begin(revision, capabilities)?;
        let info = self.server.info();
        members(&json!({
            "protocolVersion": revision.as_str(),
            "capabilities": self.capabilities(Era::Session),
            "serverInfo": {"name": info.name, "title": info.title, "version": info.version},
            "instructions": guidance,
        }))
    }

    async fn discover(self: &Arc<Self>, scope: &RequestScope<'_>) -> Result<Outcome, Fault> {
        let guidance = scope.prepare(scope.client.clone()).await?;
        let found = json!({
            "supportedVersions": [Revision::V2026_07_28.as_str()],
            "capabilities": self.capabilities(Era::Modern),
            "instructions": guidance,
        });
        let cache = if self.server.is_federation() { OF_OTHERS } else { OF_OURS };
        Ok(Outcome::cached(Json::of(&found).or_fault(&reason::SERVER_BUG)?, cache))
    }

    fn capabilities(&self, era: Era) -> Value {
        let offers = self.server.offers();
        let mut capabilities = Map::new();
        let mut offer = |offered: Support, name: &str, value: Value| {
            if offered == Support::Yes {
                capabilities.insert(name.to_owned(), value);
            }
        };
        offer(offers.tools, "tools", json!({"listChanged": true}));
        offer(offers.prompts, "prompts", json!({"listChanged": true}));
        offer(offers.resources, "resources", json!({"subscribe": true, "listChanged": true}));
        offer(offers.completions, "completions", json!({}));
        offer(Support::Yes, "logging", json!({}));
        if era == Era::Modern {
            offer(offers.tasks, "extensions", json!({TASKS_EXTENSION: {}}));
        }
        Value::Object(capabilities)
    }

    /// Returns the consumed approval of a call that never reached its server.
    fn returning_approval(
        &self,
        work: Work<ToolOutcome>,
        approval: Option<ApprovalGrant>,
    ) -> Work<ToolOutcome> {
        let (Some(grant), Some(approvals)) = (approval, self.ports.controls.approvals.clone()) else {
            return work;
        };
        Box::pin(async move {
            let outcome = work.await;
            if let Err(fault) = &outcome {
                approvals.give_back(&grant, fault).await;
            }
            outcome
        })
    }
}

impl RequestScope<'_> {
    /// Prepares the tool server for a client, and returns the instructions for its model.
    async fn prepare(&self, client: Client) -> Result<String, Fault> {
        let cx = self.context_for(client, QuestionRoute::Unavailable)?;
        self.pipeline.supervise(self.pipeline.server.prepare(cx.clone()), &cx).await?.finished()?;
        Ok(self.pipeline.guidance(&cx).await)
    }

    async fn call_tool(&self, call: ApprovedTool) -> Result<Outcome, Fault> {
        let ApprovedTool { name, tool, arguments, cx, grant } = call;
        self.log.set_reached();
        let work = self.pipeline.returning_approval(tool.call(arguments, cx.clone()), grant);
        match self.pipeline.supervise(work, &cx).await {
            // The tool has done its work, whatever becomes of its result.
            Ok(SupervisedWork::Finished(outcome)) => {
                self.tool_outcome(outcome).map_err(|fault| fault.with_effect(Effect::Complete))
            }
            Ok(SupervisedWork::Detached(work, task)) => {
                let members = task.base()?;
                task.comes_from(self.pipeline.guarded_server(self.log.route()).to_owned());
                self.pipeline.follow(work, task, self.client.revision);
                Ok(Outcome::Mcp { members: members.into(), meta: None, kind: ResultKind::Task, cache: None })
            }
            Err(fault) => self.input_needed(after_the_start(fault), &cx, &name),
        }
    }

    async fn serve_extension(
        &self,
        call: Box<dyn ExtensionCall>,
        resource: Option<Arc<dyn ResourceTarget>>,
    ) -> Result<InvokeResult, Fault> {
        let cx = self.context(QuestionRoute::Unavailable)?;
        let request = ExtensionRequest {
            cx: cx.clone(),
            connection: self.incoming.connection().to_owned(),
            resource,
            began: self.log.began,
            largest_answer: self.pipeline.settings.largest_answer,
        };
        self.log.set_reached();
        let served = self.pipeline.supervise(call.serve(request), &cx).await?.finished()?;
        let ExtensionOutcome { value, attachment, target, verdicts } = served;
        if let Some(target) = target {
            self.log.notes.set_target(&target);
        }
        verdicts.into_iter().for_each(|verdict| self.log.notes.add_verdict(verdict));
        Ok(InvokeResult { outcome: Outcome::Value(value), attachment })
    }

    /// Converts a tool's outcome to the caller's dialect. Outside MCP it is the structured result, or the
    /// content if there is none.
    fn tool_outcome(&self, outcome: ToolOutcome) -> Result<Outcome, Fault> {
        if matches!(self.to.dialect, Dialect::Mcp(_)) {
            return outcome.into_outcome(self.client.revision);
        }
        // Content can be large, and is not needed in addition to a structured result.
        if let Some(structured) = outcome.structured_success() {
            return Ok(Outcome::Value(structured.clone()));
        }
        Ok(match outcome.into_outcome(Revision::LATEST)? {
            Outcome::Mcp { members, .. } => {
                let structured = members.get("structuredContent").map(Raw::to_json);
                Outcome::Value(structured.unwrap_or_else(|| members.to_json()))
            }
            failed => failed,
        })
    }

    async fn list(&self, list: List, cursor: Option<String>) -> Result<Outcome, Fault> {
        let cx = self.context(QuestionRoute::Unavailable)?;
        let page = self.pipeline.server.list(list, cursor, cx.clone());
        let page = self.pipeline.supervise(page, &cx).await?.finished()?;
        Ok(match self.to.dialect {
            Dialect::Mcp(_) => Outcome::Mcp {
                members: page.members.into(),
                meta: page.meta,
                kind: ResultKind::Complete,
                cache: Some(page.cache),
            },
            Dialect::Rpc | Dialect::Rest(_) => Outcome::Value(page.members),
        })
    }

    async fn read(&self, call: ReadCall<'_>, resource: Arc<dyn ResourceTarget>) -> Result<Outcome, Fault> {
        let ReadCall { uri, rounds } = call;
        let cx = self.context(self.asking(&rounds, &uri)?)?;
        self.log.set_reached();
        match self.pipeline.supervise(resource.read(cx.clone()), &cx).await {
            Ok(contents) => Ok(match self.to.dialect {
                Dialect::Mcp(_) => contents.finished()?.into_outcome(DO_NOT_KEEP),
                Dialect::Rpc | Dialect::Rest(_) => Outcome::Value(contents.finished()?.members.to_json()),
            }),
            Err(fault) => self.input_needed(fault, &cx, &uri),
        }
    }

    async fn prompt(&self, call: PromptCall<'_>, prompt: Arc<dyn PromptTarget>) -> Result<Outcome, Fault> {
        let PromptCall { name, arguments, rounds } = call;
        let cx = self.context(self.asking(&rounds, &name)?)?;
        self.log.set_reached();
        match self.pipeline.supervise(prompt.fill(arguments, cx.clone()), &cx).await {
            Ok(filled) => Ok(filled.finished()?.into_outcome(None)),
            Err(fault) => self.input_needed(fault, &cx, &name),
        }
    }

    async fn complete(
        &self,
        wanted: Completion,
        target: Arc<dyn CompletionTarget>,
    ) -> Result<Outcome, Fault> {
        let cx = self.context(QuestionRoute::Unavailable)?;
        let work = target.complete(wanted, cx.clone());
        Ok(self.pipeline.supervise(work, &cx).await?.finished()?.into_outcome(None))
    }

    async fn watch(&self, uri: &str, resource: Arc<dyn ResourceTarget>) -> Result<Outcome, Fault> {
        let cx = self.context(QuestionRoute::Unavailable)?;
        self.pipeline.watch_resource(resource.clone(), &cx).await?;
        let session = self.incoming.session.or_fault(&reason::SERVER_BUG)?;
        session.watch(resource.uri().unwrap_or(uri))?;
        self.pipeline.keep_changed(session).await?;
        nothing()
    }

    async fn unwatch(&self, uri: &str, resource: Option<Arc<dyn ResourceTarget>>) -> Result<Outcome, Fault> {
        let session = self.incoming.session.or_fault(&reason::SERVER_BUG)?;
        let announced = resource.as_ref().and_then(|resource| resource.uri());
        session.unwatch(announced.unwrap_or(uri));
        if let Some(resource) = resource {
            resource.unwatch(self.context(QuestionRoute::Unavailable)?);
        }
        self.pipeline.keep_changed(session).await?;
        nothing()
    }

    /// The digest that a sealed state of this request is bound to. It is computed only for requests that
    /// bring or get a state, which are few.
    fn bound_to(&self, name: &str) -> Result<Vec<u8>, Fault> {
        let request = self.incoming.request().or_fault(&reason::SERVER_BUG)?;
        let arguments = match request.param("arguments") {
            Some(raw) => raw.to_tree().or_fault(&reason::SERVER_BUG)?,
            None => json!({}),
        };
        Ok(binding(self.incoming.caller, &request.method, name, &arguments))
    }

    /// The route for questions of this request to its client.
    pub(crate) fn asking(&self, rounds: &RoundParams<'_>, name: &str) -> Result<QuestionRoute, Fault> {
        match (&self.incoming.message, self.incoming.session) {
            (IncomingMessage::Mcp(_, RequestEra::Session), Some(session)) => {
                Ok(QuestionRoute::Session(session.clone()))
            }
            (IncomingMessage::Mcp(_, RequestEra::Modern(_)), _) => {
                let earlier = match &rounds.state {
                    Some(state) => self.pipeline.seal.open(state, &self.bound_to(name)?)?,
                    None => BTreeMap::new(),
                };
                Ok(QuestionRoute::Rounds(Rounds::new(earlier, rounds.responses)))
            }
            _ => Ok(QuestionRoute::Unavailable),
        }
    }

    /// A question that a modern client must answer first is a result, not a failure.
    fn input_needed(&self, fault: Fault, cx: &Context, name: &str) -> Result<Outcome, Fault> {
        let open = PipelinePort::of(cx)
            .and_then(|port| port.asking().open_round())
            .filter(|_| *fault.reason() == reason::MCP_INPUT_NEEDED);
        let Some((questions, settled)) = open else { return Err(fault) };
        let state = self.pipeline.seal.seal(&settled, &self.bound_to(name)?)?;
        let (questions, state) = (
            Json::of(&questions).or_fault(&reason::SERVER_BUG)?,
            Json::of(&state).or_fault(&reason::SERVER_BUG)?,
        );
        // The state comes first: guards inspect what follows it.
        let members = [(STATE, state.raw()), ("inputRequests", questions.raw())];
        let members = Json::object(members.into_iter()).into();
        Ok(Outcome::Mcp { members, meta: None, kind: ResultKind::InputRequired, cache: None })
    }

    async fn listen(&self, filter: Filter) -> Result<Outcome, Fault> {
        let pipeline = self.pipeline;
        let limit = pipeline.settings.most_listeners;
        let busy = || Fault::new(&reason::SERVER_BUSY).fact("limit", limit);
        let _slot = pipeline.listeners.take().ok_or_else(busy)?;
        let cx = self.context(QuestionRoute::Unavailable)?;
        let mut watches = SubscriptionWatches { pipeline, cx: &cx, resources: Vec::new() };
        let filter = &filter.watching(|uri| match pipeline.server.find_resource(uri, self.incoming.caller) {
            Lookup::Found(resource) => {
                let announced = resource.uri().map(str::to_owned);
                watches.resources.push(resource);
                announced
            }
            // An unknown resource never changes, so no notification is lost.
            Lookup::Refused { .. } | Lookup::Pending { .. } => None,
        });
        let subscription = Subscription {
            id: &self.incoming.request().or_fault(&reason::SERVER_BUG)?.id,
            caller_session: cx.caller_session(),
            outlet: &self.incoming.outlet,
            ports: &pipeline.ports,
        };
        tokio::select! {
            busy = watches.keep() => Err(busy),
            ended = subscription.run(filter, &pipeline.ports.hub) => ended.map(|()| subscription.end()),
            () = pipeline.closing().cancelled() => Ok(subscription.end()),
            () = self.incoming.cancel.cancelled() => Err(Fault::new(&reason::SERVER_CANCELLED)),
        }
    }

    fn need_tasks(&self) -> Result<(), Fault> {
        if self.client.can(Capability::Tasks) {
            return Ok(());
        }
        Err(Fault::new(&reason::MCP_CAPABILITY).fact("required", vec![TASKS_EXTENSION]))
    }
}

/// The resource subscriptions of a `subscriptions/listen` request. They end with the request, in every case.
struct SubscriptionWatches<'a> {
    pipeline: &'a Arc<Pipeline>,
    cx: &'a Context,
    resources: Vec<Arc<dyn ResourceTarget>>,
}

impl SubscriptionWatches<'_> {
    /// Subscribes to all resources, then waits. A full subscription table is a fault: an acknowledged
    /// subscription without notifications would lose changes silently.
    async fn keep(&self) -> Fault {
        for resource in &self.resources {
            match self.pipeline.watch_resource(resource.clone(), self.cx).await {
                Err(fault) if *fault.reason() == reason::SERVER_BUSY => return fault,
                _ => {}
            }
        }
        std::future::pending().await
    }
}

impl Drop for SubscriptionWatches<'_> {
    fn drop(&mut self) {
        for resource in &self.resources {
            resource.unwatch(self.cx.clone());
        }
    }
}

impl Pipeline {
    /// Subscribes a client to a resource.
    pub(crate) async fn watch_resource(
        &self,
        resource: Arc<dyn ResourceTarget>,
        cx: &Context,
    ) -> Result<(), Fault> {
        self.supervise(resource.watch(cx.clone()), cx).await?.finished()
    }
}

/// The revision of a new session. An unknown version gets the newest supported revision.
fn session_revision(version: &str) -> Revision {
    let asked = Revision::parse(version).filter(|revision| revision.era() == Era::Session);
    asked.unwrap_or(Revision::LATEST_SESSION)
}

fn members(value: &impl Serialize) -> Result<Outcome, Fault> {
    Ok(Outcome::complete(Json::of(value).or_fault(&reason::SERVER_BUG)?))
}

fn nothing() -> Result<Outcome, Fault> {
    members(&json!({}))
}

/// A tool that was cancelled in the middle may have done something.
fn after_the_start(fault: Fault) -> Fault {
    match *fault.reason() == reason::SERVER_CANCELLED {
        true => fault.with_effect(Effect::Unknown),
        false => fault,
    }
}

/// The fault for a missed deadline. The work until then may have had effects.
pub(crate) fn too_late(limit_s: u64) -> Fault {
    Fault::new(&reason::SERVER_TIMEOUT).fact("limit_s", limit_s).with_effect(Effect::Unknown)
}
