//! The params of a request to an upstream, put together from raw parts: what a caller sent goes on as it was written.

use failwell_rpc::{Era, Json, Raw, Revision, meta};
use failwell_server::{Capability, Client, Context, TASKS_EXTENSION};
use serde_json::Value;

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
        self.with(name, Json::from(&Value::from(value)))
    }

    /// What a caller wants completed, with the name or address it has upstream.
    pub(crate) fn renamed_ref(self, of: &str, cx: &Context) -> Params {
        let brought = cx.passing().params.as_ref().and_then(|params| params.raw().as_object());
        let named = brought.and_then(|brought| brought.get("ref")?.as_object());
        let Some((brought, named)) = brought.zip(named) else { return self };
        let member = if named.get("uri").is_some() { "uri" } else { "name" };
        let named = named.replacing(member, Json::from(&Value::from(of)).raw());
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

    /// The text for one connection; `number` is the token of progress, where a client may hear of it.
    pub(crate) fn text(&self, connection: &Connection, number: Option<u64>, cx: &Context) -> String {
        let mut out = Members::default();
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
        let meta = self.meta(connection.era(), number, cx);
        if !meta.is_empty() {
            out.raw("_meta", &meta.finish());
        }
        out.finish()
    }

    fn meta(&self, era: Era, number: Option<u64>, cx: &Context) -> Members {
        let mut meta = match era {
            Era::Modern => self.introduction(cx.client()),
            Era::Session => Members::default(),
        };
        if let Some(token) = number.filter(|_| cx.progress_token().is_some()) {
            meta.raw(meta::PROGRESS_TOKEN, &token.to_string());
        }
        // A modern upstream logs only when the request says how much.
        if let (Era::Modern, Some(level)) = (era, cx.log_level()) {
            meta.raw(meta::LOG_LEVEL, &failwell_rpc::json_string(level.as_str()));
        }
        if self.carries != Carries::Nothing {
            meta.all_of(cx.passing().meta.as_ref());
        }
        meta
    }

    fn introduction(&self, client: &Client) -> Members {
        introduction(client, self.follows == Follows::Gateway)
    }
}

/// The `_meta` of a modern request nobody but us is behind.
pub(crate) fn plain_meta() -> Json {
    let nobody = Client::plain(failwell_policy::Caller::anonymous());
    let text = introduction(&nobody, false).finish();
    // Of our own making, so it reads.
    Json::read(&text, &failwell_rpc::Limits::default()).unwrap_or_else(|_| Json::empty_object())
}

/// What every modern request says: what this very client can do, as it said it, and nothing it cannot.
fn introduction(client: &Client, follows: bool) -> Members {
    let mut capabilities = Members::default();
    for capability in [Capability::Elicitation, Capability::Sampling, Capability::Roots] {
        if let Some(declared) = client.declared(capability) {
            capabilities.put(capability.as_str(), in_this_era(capability, client, declared));
        }
    }
    let tasks = client.declared(Capability::Tasks).map(Raw::text).or(follows.then_some("{}"));
    if let Some(tasks) = tasks {
        let mut extensions = Members::default();
        extensions.raw(TASKS_EXTENSION, tasks);
        capabilities.raw("extensions", &extensions.finish());
    }
    let mut meta = Members::default();
    meta.raw(meta::PROTOCOL_VERSION, &failwell_rpc::json_string(Revision::V2026_07_28.as_str()));
    meta.raw(meta::CLIENT_CAPABILITIES, &capabilities.finish());
    meta.raw(
        meta::CLIENT_INFO,
        concat!(r#"{"name":"failwell","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#),
    );
    meta
}

/// Changes of roots are told in the session era only.
fn in_this_era<'a>(capability: Capability, client: &Client, declared: Raw<'a>) -> Raw<'a> {
    static NOTHING: std::sync::LazyLock<Json> = std::sync::LazyLock::new(Json::empty_object);
    match (capability, client.revision.era()) {
        (Capability::Roots, Era::Session) => NOTHING.raw(),
        _ => declared,
    }
}

/// An object being written.
#[derive(Default)]
struct Members(String);

impl Members {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn put(&mut self, name: &str, value: Raw<'_>) {
        self.raw(name, value.text());
    }

    fn raw(&mut self, name: &str, value: &str) {
        self.next();
        self.0.push_str(&failwell_rpc::json_string(name));
        self.0.push(':');
        self.0.push_str(value);
    }

    /// Every member of another object, as it is written there.
    fn all_of(&mut self, others: Option<&Json>) {
        let others = others.and_then(|json| json.text().strip_prefix('{')?.strip_suffix('}'));
        if let Some(others) = others.filter(|others| !others.trim().is_empty()) {
            self.next();
            self.0.push_str(others);
        }
    }

    fn next(&mut self) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
    }

    fn finish(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }
}
