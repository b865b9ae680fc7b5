//! The work itself: each call to the room that does it, under a deadline, with panics caught.

use std::collections::BTreeMap;
use std::sync::Arc;

use failwell_fault::{Effect, Fault, OrFault, Origin, Retry, reason};
use failwell_render::{Cache, CacheScope, Outcome, ReportedFailure, ResultKind, ToolFailure};
use failwell_rpc::{Era, Json, ReplyTo, Revision};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::arrival::{Arrival, Meta, Spoken};
use crate::asking::{Asking, Rounds};
use crate::call::{Call, Invocation, RoundParams};
use crate::client::{Capability, Client, TASKS_EXTENSION};
use crate::content::{ToolOutcome, Verdict};
use crate::context::{Context, Surroundings};
use crate::digest::binding;
use crate::guarding::Watched;
use crate::house::House;
use crate::listen::{Filter, Listening};
use crate::passing::Passing;
use crate::recorder::Recorder;
use crate::room::{Members, Offered};
use crate::session::Session;
use crate::supervise::Supervised;

/// What a resource holds may change any time.
const DO_NOT_KEEP: Cache = Cache { ttl_ms: 0, scope: CacheScope::Private };

/// What we say of ourselves changes with the program alone.
const OF_OURS: Cache = Cache { ttl_ms: 60_000, scope: CacheScope::Public };
/// Those behind us come and go, and not everybody hears the same of them.
const OF_OTHERS: Cache = Cache { ttl_ms: 5_000, scope: CacheScope::Private };

impl House {
    pub(crate) async fn work(
        self: &Arc<Self>,
        call: Call<'_>,
        client: Client,
        arrival: &Arrival<'_>,
        said: &Meta<'_>,
        to: &ReplyTo,
        watched: Watched<'_>,
    ) -> Result<Outcome, Fault> {
        let desk = Desk { house: self, client, arrival, said, to, watched };
        match call {
            Call::Tool(invocation) => desk.tool(invocation).await,
            // Rarer and larger, so kept apart: what every call of a tool is made of stays small.
            other => Box::pin(self.other_work(other, desk)).await,
        }
    }

    async fn other_work(self: &Arc<Self>, call: Call<'_>, desk: Desk<'_>) -> Result<Outcome, Fault> {
        let arrival = desk.arrival;
        match call {
            Call::Initialize { version, capabilities } => {
                // The client as it introduces itself: what is settled for it may depend on what it can do.
                let client = Client::new(arrival.caller.clone(), spoken(&version), capabilities.clone());
                let desk = Desk { client, ..desk };
                desk.settle().await?;
                let guidance = desk.guidance().await?;
                self.initialize(&version, capabilities, guidance, arrival)
            }
            Call::Discover => {
                desk.settle().await?;
                self.discover(desk.guidance().await?)
            }
            Call::Ping => nothing(),
            Call::SetLevel(level) => {
                let session = arrival.session.or_fault(&reason::SERVER_BUG)?;
                session.set_log_level(level);
                self.keep_changed(session).await?;
                nothing()
            }
            Call::List(list, cursor) => {
                let cx = desk.context(Asking::Nobody)?;
                let page = self.supervise(self.room.list(list, cursor, cx.clone()), &cx).await?.finished()?;
                Ok(result(Members { members: page.members.into(), meta: page.meta, cache: None }, page.cache))
            }
            Call::Tool(invocation) => desk.tool(invocation).await,
            Call::Read { uri, rounds } => desk.read(&uri, rounds).await,
            Call::Prompt { name, arguments, rounds } => desk.prompt(&name, arguments, rounds).await,
            Call::Complete(wanted) => {
                let cx = desk.context(Asking::Nobody)?;
                let work = self.room.complete(wanted, cx.clone());
                Ok(result(self.supervise(work, &cx).await?.finished()?, None))
            }
            Call::Watch(uri) => {
                let cx = desk.context(Asking::Nobody)?;
                self.supervise(self.room.watch(&uri, cx.clone()), &cx).await?.finished()?;
                let session = arrival.session.or_fault(&reason::SERVER_BUG)?;
                session.watch(&uri)?;
                self.keep_changed(session).await?;
                nothing()
            }
            Call::Unwatch(uri) => {
                let session = arrival.session.or_fault(&reason::SERVER_BUG)?;
                session.unwatch(&uri);
                self.room.unwatch(&uri, desk.context(Asking::Nobody)?);
                self.keep_changed(session).await?;
                nothing()
            }
            // Rare and large, so kept apart: what every request is made of stays small.
            Call::Listen(filter) => Box::pin(desk.listen(&filter)).await,
            Call::TaskGet(id) => {
                desk.need_tasks()?;
                Ok(Outcome::complete(self.tasks.find(&id, arrival.caller)?.account()?))
            }
            Call::TaskUpdate(id, responses) => {
                desk.need_tasks()?;
                self.tasks.find(&id, arrival.caller)?.update(responses)?;
                nothing()
            }
            Call::TaskCancel(id) => {
                desk.need_tasks()?;
                self.tasks.find(&id, arrival.caller)?.cancel.cancel();
                nothing()
            }
        }
    }

    fn initialize(
        &self,
        version: &str,
        capabilities: Option<Json>,
        guidance: String,
        arrival: &Arrival<'_>,
    ) -> Result<Outcome, Fault> {
        let revision = spoken(version);
        let session: &Arc<Session> = arrival.session.or_fault(&reason::SERVER_BUG)?;
        session.begin(revision, capabilities)?;
        let info = self.room.info();
        members(&json!({
            "protocolVersion": revision.as_str(),
            "capabilities": self.capabilities(Era::Session),
            "serverInfo": {"name": info.name, "title": info.title, "version": info.version},
            "instructions": guidance,
        }))
    }

    fn discover(&self, guidance: String) -> Result<Outcome, Fault> {
        let found = json!({
            "supportedVersions": [Revision::V2026_07_28.as_str()],
            "capabilities": self.capabilities(Era::Modern),
            "instructions": guidance,
        });
        let cache = if self.room.has_others() { OF_OTHERS } else { OF_OURS };
        Ok(Outcome::cached(Json::of(&found).or_fault(&reason::SERVER_BUG)?, cache))
    }

    fn capabilities(&self, era: Era) -> Value {
        let offers = self.room.offers();
        let mut capabilities = Map::new();
        let mut offer = |offered: Offered, name: &str, value: Value| {
            if offered == Offered::Yes {
                capabilities.insert(name.to_owned(), value);
            }
        };
        offer(offers.tools, "tools", json!({"listChanged": true}));
        offer(offers.prompts, "prompts", json!({"listChanged": true}));
        offer(offers.resources, "resources", json!({"subscribe": true, "listChanged": true}));
        offer(offers.completions, "completions", json!({}));
        offer(Offered::Yes, "logging", json!({}));
        if era == Era::Modern {
            offer(offers.tasks, "extensions", json!({TASKS_EXTENSION: {}}));
        }
        Value::Object(capabilities)
    }
}

/// One request being worked on.
struct Desk<'a> {
    house: &'a Arc<House>,
    client: Client,
    arrival: &'a Arrival<'a>,
    said: &'a Meta<'a>,
    to: &'a ReplyTo,
    watched: Watched<'a>,
}

impl Desk<'_> {
    fn context(&self, asking: Asking) -> Result<Context, Fault> {
        Ok(Context::new(Surroundings {
            client: self.client.clone(),
            session: self.arrival.session.cloned(),
            reference: self.to.reference,
            cancel: self.arrival.cancel.clone(),
            outlet: self.arrival.outlet.clone(),
            server: self.watched.server.to_owned(),
            progress: self.said.progress_token.map(|raw| raw.to_json()),
            log_level: self.arrival.log_level(self.said)?,
            asking,
            recorder: Recorder(self.house.clone()),
            passing: Passing::of(&self.arrival.request, self.said, self.arrival.trace.as_ref()),
            trace: self.arrival.trace.clone(),
        }))
    }

    async fn settle(&self) -> Result<(), Fault> {
        let cx = self.context(Asking::Nobody)?;
        self.house.supervise(self.house.room.settle(cx.clone()), &cx).await?.finished()
    }

    async fn guidance(&self) -> Result<String, Fault> {
        Ok(self.house.guidance(&self.context(Asking::Nobody)?).await)
    }

    /// What a sealed state of this request is bound to. Worked out only for requests that bring one or get one:
    /// most do neither.
    fn bound_to(&self, target: &str) -> Result<Vec<u8>, Fault> {
        let request = &self.arrival.request;
        let arguments: Value = match request.param("arguments") {
            Some(raw) => raw.parse().or_fault(&reason::SERVER_BUG)?,
            None => json!({}),
        };
        Ok(binding(self.arrival.caller, &request.method, target, &arguments))
    }

    /// How this request may ask its client.
    fn asking(&self, rounds: &RoundParams<'_>, target: &str) -> Result<Asking, Fault> {
        match (self.arrival.spoken, self.arrival.session) {
            (Spoken::Session, Some(session)) => Ok(Asking::Session(session.clone())),
            (Spoken::Session, None) => Ok(Asking::Nobody),
            (Spoken::Modern(_), _) => {
                let earlier = match &rounds.state {
                    Some(state) => self.house.seal.open(state, &self.bound_to(target)?)?,
                    None => BTreeMap::new(),
                };
                Ok(Asking::Rounds(Rounds::new(earlier, rounds.responses)))
            }
        }
    }

    async fn tool(&self, invocation: Invocation<'_>) -> Result<Outcome, Fault> {
        let Invocation { name, arguments, rounds } = invocation;
        if let Spoken::Modern(Some(headers)) = self.arrival.spoken {
            let params = self.house.room.header_params(&name, &self.client.caller);
            if !params.is_empty() {
                headers.check_params(&params, &arguments.raw().parse().or_fault(&reason::SERVER_BUG)?)?;
            }
        }
        let cx = self.context(self.asking(&rounds, &name)?)?;
        let work = self.house.room.call(&name, arguments, cx.clone());
        let supervised = self.house.supervise(work, &cx).await;
        if let Some(noted) = cx.noted() {
            noted.onto(self.watched);
        }
        match supervised {
            Ok(Supervised::Finished(outcome)) => tool_result(outcome, self.client.revision),
            Ok(Supervised::Detached(work, task)) => {
                let members = task.base()?;
                task.comes_from(self.house.server_behind(&name));
                self.house.follow(work, task, self.client.revision);
                Ok(Outcome::Mcp { members: members.into(), meta: None, kind: ResultKind::Task, cache: None })
            }
            Err(fault) => self.input_needed(fault, &cx, &name),
        }
    }

    async fn read(&self, uri: &str, rounds: RoundParams<'_>) -> Result<Outcome, Fault> {
        let cx = self.context(self.asking(&rounds, uri)?)?;
        match self.house.supervise(self.house.room.read(uri, cx.clone()), &cx).await {
            Ok(contents) => Ok(result(contents.finished()?, DO_NOT_KEEP)),
            Err(fault) => self.input_needed(fault, &cx, uri),
        }
    }

    async fn prompt(
        &self,
        name: &str,
        arguments: BTreeMap<String, String>,
        rounds: RoundParams<'_>,
    ) -> Result<Outcome, Fault> {
        let cx = self.context(self.asking(&rounds, name)?)?;
        match self.house.supervise(self.house.room.prompt(name, arguments, cx.clone()), &cx).await {
            Ok(filled) => Ok(result(filled.finished()?, None)),
            Err(fault) => self.input_needed(fault, &cx, name),
        }
    }

    /// A question a modern client must answer first is a result, not a failure.
    fn input_needed(&self, fault: Fault, cx: &Context, target: &str) -> Result<Outcome, Fault> {
        let open = cx.asking().open_round().filter(|_| *fault.reason() == reason::MCP_INPUT_NEEDED);
        let Some((questions, settled)) = open else { return Err(fault) };
        let state = self.house.seal.seal(&settled, &self.bound_to(target)?)?;
        let (questions, state) = (
            Json::of(&questions).or_fault(&reason::SERVER_BUG)?,
            Json::of(&state).or_fault(&reason::SERVER_BUG)?,
        );
        let members = [("inputRequests", questions.raw()), ("requestState", state.raw())];
        let members = Json::object(members.into_iter()).into();
        Ok(Outcome::Mcp { members, meta: None, kind: ResultKind::InputRequired, cache: None })
    }

    async fn listen(&self, filter: &Filter) -> Result<Outcome, Fault> {
        let house = self.house;
        let limit = house.settings.most_listeners;
        let busy = || Fault::new(&reason::SERVER_BUSY).fact("limit", limit);
        let _slot = house.listeners.take().ok_or_else(busy)?;
        let cx = self.context(Asking::Nobody)?;
        let watches = Watches { house, cx: &cx, uris: filter.watched() };
        let listening = Listening {
            id: &self.arrival.request.id,
            party: cx.party(),
            outlet: &self.arrival.outlet,
            tasks: &house.tasks,
            porter: &house.porter,
            shelf: house.settings.shelf.as_ref(),
        };
        tokio::select! {
            busy = watches.keep() => Err(busy),
            told = listening.run(filter, &house.hub) => told.map(|()| listening.farewell()),
            () = house.closing().cancelled() => Ok(listening.farewell()),
            () = self.arrival.cancel.cancelled() => Err(Fault::new(&reason::SERVER_CANCELLED)),
        }
    }

    fn need_tasks(&self) -> Result<(), Fault> {
        if self.client.can(Capability::Tasks) {
            return Ok(());
        }
        Err(Fault::new(&reason::MCP_CAPABILITY).fact("required", vec![TASKS_EXTENSION]))
    }
}

/// What a subscription watches, given back when it ends, however it does.
struct Watches<'a> {
    house: &'a House,
    cx: &'a Context,
    uris: &'a [String],
}

impl Watches<'_> {
    /// Watches until there is no room to: what is acknowledged and never told would be missed in silence.
    async fn keep(&self) -> Fault {
        for uri in self.uris {
            let watching = self.house.room.watch(uri, self.cx.clone());
            match self.house.supervise(watching, self.cx).await {
                Err(fault) if *fault.reason() == reason::SERVER_BUSY => return fault,
                // What nobody knows never changes, so there is nothing to say about it.
                _ => {}
            }
        }
        std::future::pending().await
    }
}

impl Drop for Watches<'_> {
    fn drop(&mut self) {
        self.uris.iter().for_each(|uri| self.house.room.unwatch(uri, self.cx.clone()));
    }
}

/// The revision a session is begun in. One nobody here speaks is answered with the newest that is spoken.
fn spoken(version: &str) -> Revision {
    let asked = Revision::parse(version).filter(|revision| revision.era() == Era::Session);
    asked.unwrap_or(Revision::LATEST_SESSION)
}

/// A tool's outcome as the revision writes it.
pub(crate) fn tool_result(outcome: ToolOutcome, revision: Revision) -> Result<Outcome, Fault> {
    let ToolOutcome { content, structured, verdict } = outcome;
    let is_error = match verdict {
        Verdict::Relayed(relayed) => return Ok(result(relayed, None)),
        Verdict::RelayedFailure(relayed) => return Ok(reported_failure(relayed, Origin::Upstream)),
        Verdict::Failed(fault) => {
            let blocks = content.iter().map(Json::of).collect::<Result<_, _>>();
            let blocks = blocks.or_fault(&reason::SERVER_BUG)?;
            return Ok(Outcome::ToolFailed(Box::new(ToolFailure { fault, structured, blocks })));
        }
        Verdict::MarkedAsError => Some(true),
        Verdict::Done => None,
    };
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct CallToolResult {
        content: Vec<crate::content::Content>,
        #[serde(skip_serializing_if = "Option::is_none")]
        structured_content: Option<Json>,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    }
    let structured_content = structured.filter(|_| revision.has_structured_content());
    let written = Members::of(&CallToolResult { content, structured_content, is_error })?;
    Ok(match is_error {
        Some(_) => reported_failure(written, Origin::Server),
        None => result(written, None),
    })
}

/// A tool that reported a failure. It ran, so its effect is unknown.
fn reported_failure(said: Members, origin: Origin) -> Outcome {
    let fault = Fault::new(&reason::MCP_TOOL_FAILED)
        .with_effect(Effect::Unknown)
        .retry_as(Retry::AfterChange)
        .from_origin(origin);
    let Members { members, meta, cache } = said;
    Outcome::ReportedFailure(Box::new(ReportedFailure { fault, members, meta, cache }))
}

/// A finished result. Where its maker does not say how long it may be kept, it is for `otherwise`.
fn result(found: Members, otherwise: impl Into<Option<Cache>>) -> Outcome {
    let cache = found.cache.or(otherwise.into());
    Outcome::Mcp { members: found.members, meta: found.meta, kind: ResultKind::Complete, cache }
}

fn members(value: &impl Serialize) -> Result<Outcome, Fault> {
    Ok(Outcome::complete(Json::of(value).or_fault(&reason::SERVER_BUG)?))
}

fn nothing() -> Result<Outcome, Fault> {
    members(&json!({}))
}

/// A deadline that passed: what was done until then may stand.
pub(crate) fn too_late(limit_s: u64) -> Fault {
    Fault::new(&reason::SERVER_TIMEOUT).fact("limit_s", limit_s).with_effect(Effect::Unknown)
}
