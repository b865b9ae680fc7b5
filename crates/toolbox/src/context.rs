//! The request that a handler serves: its facts, and the actions a handler can take besides responding.

pub(crate) mod caller_session;
pub(crate) mod client;
pub(crate) mod event;
pub(crate) mod extra_params;
pub(crate) mod log_level;
pub(crate) mod port;
pub(crate) mod watcher;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use failwell_fault::{Fault, Ref, reason};
use failwell_rpc::{Era, Json, Trace};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::caller_session::CallerSession;
use self::client::{Capability, Client};
use self::event::Event;
use self::extra_params::ExtraParams;
use self::log_level::LogLevel;
use self::port::RequestPort;
use self::watcher::Watcher;
use crate::question::{Answers, Question};

/// The request that a handler serves. Clones are cheap.
#[derive(Clone)]
pub struct Context(Arc<ContextState<dyn RequestPort>>, Option<Arc<Alias>>);

/// The two URIs of one resource: the tool server's own, and the one that the client knows.
#[derive(Debug)]
struct Alias {
    inside: Box<str>,
    outside: Arc<str>,
}

/// The port is the last, unsized field, so that a context is one allocation.
struct ContextState<P: ?Sized> {
    request: RequestInfo,
    last_progress: Mutex<Option<(Instant, f64)>>,
    port: P,
}

/// The facts about a request.
#[derive(Debug)]
pub struct RequestInfo {
    /// The client that sent the request.
    pub client: Client,
    /// The reference of the exchange, which responses and records share.
    pub reference: Ref,
    /// Set when the caller cancels the request or disconnects.
    pub cancel: CancellationToken,
    /// The token under which the client wants progress notifications.
    pub progress_token: Option<Json>,
    /// The least severe log message that the client wants; `None` for no log messages.
    pub log_level: Option<LogLevel>,
    /// Request members that this program does not read.
    pub extra_params: ExtraParams,
    /// The trace of the exchange, if tracing is on.
    pub trace: Option<Trace>,
}

/// Whether a tool requires its client to support tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskNeed {
    /// Clients without task support are refused.
    Required,
    /// Clients without task support wait for the result.
    Preferred,
}

/// The minimum interval between progress notifications. Progress in between is dropped.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(10);

impl Context {
    /// Creates the context of a request. It acts through this port.
    pub fn new(request: RequestInfo, port: impl RequestPort) -> Context {
        Context(Arc::new(ContextState { request, last_progress: Mutex::default(), port }), None)
    }

    /// Returns the port, if it has this type.
    pub fn port<P: RequestPort>(&self) -> Option<&P> {
        (&self.0.port as &dyn Any).downcast_ref()
    }

    /// Returns a context for a tool server whose URI of a resource differs from the client's. Announcements
    /// about `inside` reach the client as `outside`.
    #[must_use]
    pub fn with_alias(&self, inside: &str, outside: &str) -> Context {
        let alias = Alias { inside: inside.into(), outside: outside.into() };
        Context(self.0.clone(), Some(Arc::new(alias)))
    }

    /// The client that sent the request, with its caller and capabilities.
    pub fn client(&self) -> &Client {
        &self.0.request.client
    }

    /// The caller, and the session of the request.
    pub fn caller_session(&self) -> CallerSession {
        CallerSession { caller: self.0.request.client.caller.clone(), session: self.session_number() }
    }

    /// Whether both requests send to the same stream. A slow reader then delays both.
    pub fn shares_stream_with(&self, other: &Context) -> bool {
        self.0.port.shares_stream_with(&other.0.port)
    }

    /// The identity under which this request subscribes to resources.
    pub fn watcher(&self) -> Watcher {
        let session = self.session_number().filter(|_| self.0.request.client.revision.era() == Era::Session);
        session.map_or(Watcher::Subscription(self.0.request.reference), Watcher::Session)
    }

    /// The number of the session, unique in this process; `None` for a request without a session.
    pub fn session_number(&self) -> Option<u64> {
        self.0.port.session().map(|session| session.number)
    }

    /// Set when the session ends; `None` for a request without a session.
    pub fn end_of_session(&self) -> Option<&CancellationToken> {
        self.0.port.session().map(|session| session.ended)
    }

    /// Returns a context for the same client outside this request. Returns `None` for a client that is
    /// reachable only within its requests.
    pub fn detached(&self) -> Option<Context> {
        self.0.port.detached(&self.0.request)
    }

    /// The reference of this exchange.
    pub fn reference(&self) -> Ref {
        self.0.request.reference
    }

    /// Records a failure for the operator under the reference of this exchange, which continues.
    pub fn report(&self, fault: Fault) {
        self.0.port.report(&self.0.request, fault);
    }

    /// The trace of this exchange, if tracing is on.
    pub fn trace(&self) -> Option<&Trace> {
        self.0.request.trace.as_ref()
    }

    /// Whether the caller cancelled the request or disconnected.
    pub fn is_cancelled(&self) -> bool {
        self.0.request.cancel.is_cancelled()
    }

    /// Completes when the caller cancels the request or disconnects.
    pub async fn cancelled(&self) {
        self.0.request.cancel.cancelled().await;
    }

    /// Sends a progress notification, if the client asked for them.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        if let Some(message) = message {
            self.0.port.touch_task(message);
        }
        let is_watched = self.0.port.is_watched();
        if self.0.request.progress_token.is_none() && !is_watched || !self.is_worth_telling(done, total) {
            return;
        }
        let mut params = json!({"progress": done});
        if let Some(members) = params.as_object_mut() {
            total.map(|total| members.insert("total".to_owned(), json!(total)));
            message.map(|message| members.insert("message".to_owned(), json!(message)));
        }
        if is_watched {
            self.0.port.show_progress(&self.0.request, &params).await;
        }
        if let (Some(token), Some(members)) = (&self.0.request.progress_token, params.as_object_mut()) {
            members.insert("progressToken".to_owned(), json!(token));
            self.notify("notifications/progress", &params).await;
        }
    }

    /// Progress must increase. The final step is always sent; earlier steps are rate-limited.
    fn is_worth_telling(&self, done: f64, total: Option<f64>) -> bool {
        let mut last = self.0.last_progress.lock();
        let now = Instant::now();
        let worth = last.is_none_or(|(when, before)| {
            done > before && (total == Some(done) || now.duration_since(when) >= PROGRESS_INTERVAL)
        });
        if worth {
            *last = Some((now, done));
        }
        worth
    }

    /// Sends a log message to the client, if the client wants this level. Never log secrets or third-party
    /// text: the client may show the message to anyone.
    pub async fn log(&self, level: LogLevel, logger: &'static str, data: Value) {
        if self.0.request.log_level.is_some_and(|wanted| level >= wanted) {
            let params = json!({"level": level.as_str(), "logger": logger, "data": data});
            self.notify("notifications/message", &params).await;
        }
    }

    async fn notify(&self, method: &str, params: &Value) {
        let frame = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        self.0.port.notify(frame).await;
    }

    /// Closes the client's connection for a while. A session client over HTTP reconnects after `retry` and
    /// resumes. For other clients this is a no-op.
    pub fn pause_stream(&self, retry: Duration) {
        self.0.port.pause_stream(retry);
    }

    /// Notifies every subscribed client of a change.
    pub fn announce(&self, event: Event) {
        let event = match (event, &self.1) {
            (Event::ResourceUpdated(uri), Some(alias)) if *uri == *alias.inside => {
                Event::ResourceUpdated(alias.outside.clone())
            }
            (other, _) => other,
        };
        self.0.port.announce(event);
    }

    /// Asks the client in either era. A session client is asked directly; a modern client repeats its request
    /// with the answers. Ask before any work that must not run twice, and propagate the fault with `?`.
    pub async fn ask(&self, questions: &[(&str, Question)]) -> Result<Answers, Fault> {
        for (_, question) in questions {
            self.need(question.needs())?;
        }
        self.0.port.ask(questions).await
    }

    /// Returns a fault if the client lacks this capability.
    pub fn need(&self, capability: Capability) -> Result<(), Fault> {
        if self.0.request.client.can(capability) {
            return Ok(());
        }
        Err(Fault::new(&reason::MCP_CAPABILITY).fact("required", vec![capability.as_str()]))
    }

    /// Turns the work into a task. The caller gets a response immediately and follows the task.
    pub async fn become_task(&self, need: TaskNeed) -> Result<(), Fault> {
        if !self.0.request.client.can(Capability::Tasks) {
            return match need {
                TaskNeed::Required => self.need(Capability::Tasks),
                TaskNeed::Preferred => Ok(()),
            };
        }
        if !self.0.port.is_task() {
            self.0.port.become_task(&self.0.request)?;
            // The pipeline must observe the change before the work continues, because the work may end at
            // once.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Whether the work has become a task.
    pub fn is_task(&self) -> bool {
        self.0.port.is_task()
    }

    /// Sets the status message of the task. An unchanged message is not sent again.
    pub fn tell_status(&self, message: Option<String>) {
        if let Some(message) = message {
            self.0.port.set_task_status(message);
        }
    }

    /// Forwards a notification of another server to the client, unchanged.
    pub async fn relay_notice(&self, method: &str, params: &Json) {
        if method == "notifications/progress"
            && self.0.port.is_watched()
            && let Ok(params) = params.raw().parse::<Value>()
        {
            self.0.port.show_progress(&self.0.request, &params).await;
        }
        let (method, params) = (failwell_rpc::json_string(method), params.text());
        let frame = format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#);
        self.0.port.notify(failwell_rpc::on_one_line(frame)).await;
    }

    /// Request members that this program does not read.
    pub fn extra_params(&self) -> &ExtraParams {
        &self.0.request.extra_params
    }

    /// The token under which the client wants progress notifications.
    pub fn progress_token(&self) -> Option<&Json> {
        self.0.request.progress_token.as_ref()
    }

    /// The least severe log message that the client wants; `None` for no log messages.
    pub fn log_level(&self) -> Option<LogLevel> {
        self.0.request.log_level
    }

    /// The log level that the client chose; `None` if it chose none.
    pub fn chosen_log_level(&self) -> Option<LogLevel> {
        match (self.0.request.client.revision.era(), self.0.port.session()) {
            (Era::Session, Some(session)) => session.chosen_log_level,
            _ => self.0.request.log_level,
        }
    }

    /// Returns the round state of a modern client under keys with this prefix. It contains answers of earlier
    /// rounds and remembered values. Only remembered values are sealed; the client may have made up the rest.
    pub fn round_state(&self, begins: &str) -> Vec<(String, Json)> {
        self.0.port.round_state(begins)
    }

    /// Stores a sealed value for the round in which a modern client returns its answers.
    pub fn remember(&self, key: &str, value: Json) {
        self.0.port.remember(key, value);
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("request", &self.0.request).field("port", &&self.0.port).finish()
    }
}
