//! The params of a request to an upstream, put together from raw parts: what a caller sent goes on as it was written.

use failwell_audit::{TRACEPARENT, TRACESTATE};
use failwell_rpc::{Era, Json, Raw, Revision, json_string, meta};
use failwell_server::{Capability, Client, Context, TASKS_EXTENSION, Trace};

use crate::upstream::Connection;

/// How long an upstream of the session era is asked to remember a task.
const TASK: &str = r#"{"ttl":3600000}"#;

/// Params, but for `_meta`, which depends on the connection they go out on.
#[derive(Debug, Clone)]
pub(crate) struct Params {
    members: Vec<(&'static str, Json)>,
    carries: Carries,
    follows: Follows,
    task: bool,
}

/// What a request goes out on.
pub(crate) struct Onto<'a> {
    pub(crate) connection: &'a Connection,
    /// The token of progress, where a client may hear of it.
    pub(crate) progress: Option<u64>,
    /// The step of a trace it is, where traces are kept.
    pub(crate) trace: Option<&'a Trace>,
}

impl<'a> Onto<'a> {
    /// A connection, and nothing more to say.
    pub(crate) fn just(connection: &'a Connection) -> Onto<'a> {
        Onto { connection, progress: None, trace: None }
    }
}

/// Whether the members a caller's request brought along go on with it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Carries {
    /// The request is the caller's.
    All,
    /// The request is the caller's, with these instead.
    These(Json),
    /// The request is ours, for the sake of the caller's.
    Nothing,
}

/// Who follows a task, should the request become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    /// The client, if it can.
    Client,
    /// We do, to its end.
    Gateway,
}

impl Params {
    /// Of a request that is passed on.
    pub(crate) fn passing() -> Params {
        Params { members: Vec::new(), carries: Carries::All, follows: Follows::Client, task: false }
    }

    /// Of a request of our own.
    pub(crate) fn ours() -> Params {
        Params { carries: Carries::Nothing, ..Params::passing() }
    }

    /// With one more member.
    pub(crate) fn with(mut self, name: &'static str, value: Json) -> Params {
        self.set(name, Some(value));
        self
    }

    /// With one more member that is a text.
    pub(crate) fn with_text(self, name: &'static str, value: &str) -> Params {
        self.with(name, Json::string(value))
    }

    /// What a caller wants completed, with the name or address it has upstream.
    pub(crate) fn renamed_ref(self, of: &str, cx: &Context) -> Params {
        let brought = cx.passing().params.as_ref().and_then(|params| params.raw().as_object());
        let named = brought.and_then(|brought| brought.get("ref")?.as_object());
        let Some((brought, named)) = brought.zip(named) else { return self };
        let member = if named.get("uri").is_some() { "uri" } else { "name" };
        let named = named.replacing(member, Json::string(of).raw());
        let all = brought.replacing("ref", named.raw());
        Params { carries: Carries::These(all), ..self }
    }

    /// Sets a member, or takes it out.
    pub(crate) fn set(&mut self, name: &'static str, value: Option<Json>) {
        self.members.retain(|(known, _)| *known != name);
        self.members.extend(value.map(|value| (name, value)));
    }

    /// Whatever becomes a task is followed here, for a client that cannot.
    pub(crate) fn follow_tasks(&mut self) {
        self.follows = Follows::Gateway;
    }

    /// Of a call that an upstream of the session era is to make a task of.
    pub(crate) fn into_task(mut self) -> Params {
        self.task = true;
        self
    }

    /// Whether an upstream of the session era makes a task of it.
    pub(crate) fn is_task(&self) -> bool {
        self.task
    }

    /// The tool, prompt or resource it is about.
    pub(crate) fn target(&self) -> Option<Box<str>> {
        let named = self.members.iter().find(|(name, _)| matches!(*name, "name" | "uri"))?;
        named.1.raw().as_str().map(Box::from)
    }

    /// The text for one connection.
    pub(crate) fn text(&self, onto: &Onto<'_>, cx: &Context) -> String {
        let mut text = String::new();
        self.write(&mut text, onto, cx);
        text
    }

    /// Writes them for one connection.
    pub(crate) fn write(&self, text: &mut String, onto: &Onto<'_>, cx: &Context) {
        let connection = onto.connection;
        let room: usize = self.members.iter().map(|(_, value)| value.text().len() + 32).sum();
        // A new place rather than a larger one: to grow one takes a lock that other threads wait for.
        let mut larger = String::with_capacity(text.len() + room + 512);
        larger.push_str(text);
        *text = larger;
        let mut out = Members(text);
        out.open();
        for (name, value) in &self.members {
            out.put(name, value.raw());
        }
        out.all_of(match &self.carries {
            Carries::All => cx.passing().params.as_ref(),
            Carries::These(params) => Some(params),
            Carries::Nothing => None,
        });
        if self.task && connection.era() == Era::Session {
            out.raw("task", TASK);
        }
        out.object("_meta", |meta| self.write_meta(meta, onto, cx));
        out.close();
    }

    fn write_meta(&self, meta: &mut Members<'_>, onto: &Onto<'_>, cx: &Context) {
        let era = onto.connection.era();
        if era == Era::Modern {
            introduce(meta, cx.client(), self.follows);
        }
        if let Some(token) = onto.progress.filter(|_| cx.progress_token().is_some()) {
            meta.raw(meta::PROGRESS_TOKEN, &token.to_string());
        }
        // A modern upstream logs only when the request says how much.
        if let (Era::Modern, Some(level)) = (era, cx.log_level()) {
            meta.plain(meta::LOG_LEVEL, level.as_str());
        }
        if let Some(trace) = onto.trace {
            meta.raw(TRACEPARENT, &json_string(&trace.header()));
            if let Some(state) = &trace.state {
                meta.raw(TRACESTATE, &json_string(state));
            }
        }
        if self.carries != Carries::Nothing {
            meta.all_of(cx.passing().meta.as_ref());
        }
    }
}

/// The `_meta` of a modern request nobody but us is behind.
pub(crate) fn plain_meta() -> Json {
    let nobody = Client::plain(failwell_policy::Caller::anonymous());
    let mut text = String::with_capacity(256);
    let mut meta = Members(&mut text);
    meta.open();
    introduce(&mut meta, &nobody, Follows::Client);
    meta.close();
    // Of our own making, so it reads.
    Json::read(&text, &failwell_rpc::Limits::default()).unwrap_or_else(|_| Json::empty_object())
}

/// What every modern request says: what this very client can do, as it said it, and nothing it cannot.
fn introduce(meta: &mut Members<'_>, client: &Client, follows: Follows) {
    meta.plain(meta::PROTOCOL_VERSION, Revision::V2026_07_28.as_str());
    meta.key(meta::CLIENT_CAPABILITIES);
    meta.open();
    for capability in [Capability::Elicitation, Capability::Sampling, Capability::Roots] {
        if let Some(declared) = client.declared(capability) {
            meta.put(capability.as_str(), in_this_era(capability, client, declared));
        }
    }
    let tasks = client.declared(Capability::Tasks).map(Raw::text);
    if let Some(tasks) = tasks.or((follows == Follows::Gateway).then_some("{}")) {
        meta.object("extensions", |extensions| extensions.raw(TASKS_EXTENSION, tasks));
    }
    meta.close();
    meta.raw(
        meta::CLIENT_INFO,
        concat!(r#"{"name":"failwell","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#),
    );
}

/// Changes of roots are told in the session era only.
fn in_this_era<'a>(capability: Capability, client: &Client, declared: Raw<'a>) -> Raw<'a> {
    static NOTHING: std::sync::LazyLock<Json> = std::sync::LazyLock::new(Json::empty_object);
    match (capability, client.revision.era()) {
        (Capability::Roots, Era::Session) => NOTHING.raw(),
        _ => declared,
    }
}

/// An object being written, with others in it.
struct Members<'a>(&'a mut String);

impl Members<'_> {
    fn put(&mut self, name: &str, value: Raw<'_>) {
        self.raw(name, value.text());
    }

    fn raw(&mut self, name: &str, value: &str) {
        self.key(name);
        self.0.push_str(value);
    }

    /// A text of ours, which needs no escapes.
    fn plain(&mut self, name: &str, text: &'static str) {
        self.key(name);
        self.0.push('"');
        self.0.push_str(text);
        self.0.push('"');
    }

    /// An object of its own, unless nothing is written into it.
    fn object(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        let before = self.0.len();
        self.key(name);
        self.open();
        write(self);
        if self.0.ends_with('{') {
            self.0.truncate(before);
        } else {
            self.close();
        }
    }

    /// Every member of another object, as it is written there.
    fn all_of(&mut self, others: Option<&Json>) {
        let others = others.and_then(|json| json.text().strip_prefix('{')?.strip_suffix('}'));
        if let Some(others) = others.filter(|others| !others.trim().is_empty()) {
            self.next();
            self.0.push_str(others);
        }
    }

    /// A name of ours, which needs no escapes.
    fn key(&mut self, name: &str) {
        self.next();
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
    }

    fn next(&mut self) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
    }

    fn open(&mut self) {
        self.0.push('{');
    }

    fn close(&mut self) {
        self.0.push('}');
    }
}
