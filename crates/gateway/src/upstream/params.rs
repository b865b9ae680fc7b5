//! The params of a request to an upstream. Members that the caller sent are forwarded byte for byte.

use failwell_rpc::{Era, Json, Raw, Revision, json_string, meta};
use failwell_rpc::{TRACEPARENT, TRACESTATE};
use failwell_toolbox::{Capability, Client, Context, TASKS_EXTENSION, Trace};

use crate::upstream::UpstreamConnection;

/// The lifetime requested for a task in the session era.
const TASK: &str = r#"{"ttl":3600000}"#;

/// All params except `_meta`, which depends on the connection.
#[derive(Debug, Clone)]
pub(crate) struct RequestParams {
    members: Vec<(&'static str, Json)>,
    caller_members: CallerMembers,
    task_follower: TaskFollower,
    task: bool,
}

/// The connection-specific parts of a request.
pub(crate) struct SendContext<'a> {
    pub(crate) connection: &'a UpstreamConnection,
    /// The progress token, if the client wants progress.
    pub(crate) progress: Option<u64>,
    /// The trace context, if the request is traced.
    pub(crate) trace: Option<&'a Trace>,
}

impl<'a> SendContext<'a> {
    pub(crate) fn new(connection: &'a UpstreamConnection) -> SendContext<'a> {
        SendContext { connection, progress: None, trace: None }
    }
}

/// Which members of the caller's request are forwarded.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CallerMembers {
    /// All of them.
    All,
    /// These instead.
    These(Json),
    /// None: the gateway itself sends the request.
    Nothing,
}

/// The follower of a task that the request may create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskFollower {
    /// The client, if it supports tasks.
    Client,
    Gateway,
}

impl RequestParams {
    /// Params of a forwarded request.
    pub(crate) fn forwarded() -> RequestParams {
        RequestParams {
            members: Vec::new(),
            caller_members: CallerMembers::All,
            task_follower: TaskFollower::Client,
            task: false,
        }
    }

    /// Params of a request that the gateway itself sends.
    pub(crate) fn own() -> RequestParams {
        RequestParams { caller_members: CallerMembers::Nothing, ..RequestParams::forwarded() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: Json) -> RequestParams {
        self.set(name, Some(value));
        self
    }

    pub(crate) fn with_text(self, name: &'static str, value: &str) -> RequestParams {
        self.with(name, Json::string(value))
    }

    /// The caller's completion request, with the upstream's own name or URI in `ref`.
    pub(crate) fn renamed_ref(self, of: &str, cx: &Context) -> RequestParams {
        let brought = cx.extra_params().params.as_ref().and_then(|params| params.raw().as_object());
        let named = brought.and_then(|brought| brought.get("ref")?.as_object());
        let Some((brought, named)) = brought.zip(named) else { return self };
        let member = if named.get("uri").is_some() { "uri" } else { "name" };
        let named = named.replacing(member, Json::string(of).raw());
        let all = brought.replacing("ref", named.raw());
        RequestParams { caller_members: CallerMembers::These(all), ..self }
    }

    /// Sets or removes a member.
    pub(crate) fn set(&mut self, name: &'static str, value: Option<Json>) {
        self.members.retain(|(known, _)| *known != name);
        self.members.extend(value.map(|value| (name, value)));
    }

    /// Declares task support for a client that has none.
    pub(crate) fn follow_tasks(&mut self) {
        self.task_follower = TaskFollower::Gateway;
    }

    /// Asks a session-era upstream to run the call as a task.
    pub(crate) fn into_task(mut self) -> RequestParams {
        self.task = true;
        self
    }

    pub(crate) fn is_task(&self) -> bool {
        self.task
    }

    /// The name or URI of the tool, prompt or resource.
    pub(crate) fn target(&self) -> Option<Box<str>> {
        let named = self.members.iter().find(|(name, _)| matches!(*name, "name" | "uri"))?;
        named.1.raw().as_str().map(Box::from)
    }

    pub(crate) fn text(&self, target: &SendContext<'_>, cx: &Context) -> String {
        let mut text = String::new();
        self.write(&mut text, target, cx);
        text
    }

    pub(crate) fn write(&self, text: &mut String, target: &SendContext<'_>, cx: &Context) {
        let connection = target.connection;
        let space: usize = self.members.iter().map(|(_, value)| value.text().len() + 32).sum();
        // A new buffer instead of `reserve`: growing one takes a lock of the allocator.
        let mut larger = String::with_capacity(text.len() + space + 512);
        larger.push_str(text);
        *text = larger;
        let mut out = ObjectWriter(text);
        out.open();
        for (name, value) in &self.members {
            out.put(name, value.raw());
        }
        out.splice(match &self.caller_members {
            CallerMembers::All => cx.extra_params().params.as_ref(),
            CallerMembers::These(params) => Some(params),
            CallerMembers::Nothing => None,
        });
        if self.task && connection.era() == Era::Session {
            out.raw("task", TASK);
        }
        out.object("_meta", |meta| self.write_meta(meta, target, cx));
        out.close();
    }

    fn write_meta(&self, meta: &mut ObjectWriter<'_>, target: &SendContext<'_>, cx: &Context) {
        let era = target.connection.era();
        if era == Era::Modern {
            write_client_meta(meta, cx.client(), self.task_follower);
        }
        if let Some(token) = target.progress.filter(|_| cx.progress_token().is_some()) {
            meta.raw(meta::PROGRESS_TOKEN, &token.to_string());
        }
        // A modern upstream logs only if the request sets a level.
        if let (Era::Modern, Some(level)) = (era, cx.log_level()) {
            meta.plain(meta::LOG_LEVEL, level.as_str());
        }
        if let Some(trace) = target.trace {
            meta.raw(TRACEPARENT, &json_string(&trace.header()));
            if let Some(state) = &trace.state {
                meta.raw(TRACESTATE, &json_string(state));
            }
        }
        if self.caller_members != CallerMembers::Nothing {
            meta.splice(cx.extra_params().meta.as_ref());
        }
    }
}

/// The `_meta` of a modern request without a client.
pub(crate) fn plain_meta() -> Json {
    let anonymous = Client::plain(failwell_rpc::Caller::anonymous());
    let mut text = String::with_capacity(256);
    let mut meta = ObjectWriter(&mut text);
    meta.open();
    write_client_meta(&mut meta, &anonymous, TaskFollower::Client);
    meta.close();
    // Written above, so it parses.
    Json::read(&text, &failwell_rpc::Limits::default()).unwrap_or_else(|_| Json::empty_object())
}

/// The required `_meta` members of the modern era, with exactly the client's own capabilities.
fn write_client_meta(meta: &mut ObjectWriter<'_>, client: &Client, task_follower: TaskFollower) {
    meta.plain(meta::PROTOCOL_VERSION, Revision::V2026_07_28.as_str());
    meta.key(meta::CLIENT_CAPABILITIES);
    meta.open();
    for capability in [Capability::Elicitation, Capability::Sampling, Capability::Roots] {
        if let Some(declared) = client.declared(capability) {
            meta.put(capability.as_str(), in_this_era(capability, client, declared));
        }
    }
    let tasks = client.declared(Capability::Tasks).map(Raw::text);
    if let Some(tasks) = tasks.or((task_follower == TaskFollower::Gateway).then_some("{}")) {
        meta.object("extensions", |extensions| extensions.raw(TASKS_EXTENSION, tasks));
    }
    meta.close();
    meta.raw(
        meta::CLIENT_INFO,
        concat!(r#"{"name":"failwell","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#),
    );
}

/// `roots.listChanged` exists in the session era only.
fn in_this_era<'a>(capability: Capability, client: &Client, declared: Raw<'a>) -> Raw<'a> {
    static NOTHING: std::sync::LazyLock<Json> = std::sync::LazyLock::new(Json::empty_object);
    match (capability, client.revision.era()) {
        (Capability::Roots, Era::Session) => NOTHING.raw(),
        _ => declared,
    }
}

/// Writes JSON objects without an intermediate tree.
struct ObjectWriter<'a>(&'a mut String);

impl ObjectWriter<'_> {
    fn put(&mut self, name: &str, value: Raw<'_>) {
        self.raw(name, value.text());
    }

    fn raw(&mut self, name: &str, value: &str) {
        self.key(name);
        self.0.push_str(value);
    }

    /// A literal, which needs no escaping.
    fn plain(&mut self, name: &str, text: &'static str) {
        self.key(name);
        self.0.push('"');
        self.0.push_str(text);
        self.0.push('"');
    }

    /// Writes a nested object, or nothing if it stays empty.
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

    /// Copies all members of another object.
    fn splice(&mut self, others: Option<&Json>) {
        let others = others.and_then(|json| json.text().strip_prefix('{')?.strip_suffix('}'));
        if let Some(others) = others.filter(|others| !others.trim().is_empty()) {
            self.next();
            self.0.push_str(others);
        }
    }

    /// Member names are literals and need no escaping.
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
