//! What a handler knows about its request, and all it can do besides answering.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use failwell_audit::{Span, Trace};
use failwell_fault::{Fault, Ref, reason};
use failwell_rpc::{Era, Json};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::approving::Noted;
use crate::asking::{Asking, Way};
use crate::client::{Capability, Client};
use crate::house::House;
use crate::hub::Event;
use crate::log_level::LogLevel;
use crate::operations::Happening;
use crate::party::Party;
use crate::passing::Passing;
use crate::question::{Answers, Question};
use crate::recorder::Recorder;
use crate::session::Session;
use crate::stream::Stream;
use crate::task::Task;
use crate::turnstile::Passage;
use crate::watcher::Watcher;

/// The request a handler serves. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Context(Arc<Inner>, Option<Arc<Alias>>);

/// What a room calls a resource, and what its client does.
#[derive(Debug)]
struct Alias {
    inside: Box<str>,
    outside: Arc<str>,
}

#[derive(Debug)]
struct Inner {
    client: Client,
    session: Option<Arc<Session>>,
    reference: Ref,
    cancel: CancellationToken,
    outlet: Arc<Stream>,
    server: String,
    progress: Option<Json>,
    last_progress: Mutex<Option<(Instant, f64)>>,
    log_level: Option<LogLevel>,
    asking: Asking,
    recorder: Recorder,
    passing: Passing,
    trace: Option<Trace>,
    task: OnceLock<Arc<Task>>,
    detached: Notify,
    noted: OnceLock<Box<Noted>>,
}

/// Whether a tool insists on being a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskNeed {
    /// A client that cannot follow tasks is refused.
    Required,
    /// A client that cannot follow tasks waits for the result.
    Preferred,
}

/// What the walk hands over to make a context.
pub(crate) struct Surroundings {
    pub(crate) client: Client,
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) reference: Ref,
    pub(crate) cancel: CancellationToken,
    pub(crate) outlet: Arc<Stream>,
    pub(crate) server: String,
    pub(crate) progress: Option<Json>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) asking: Asking,
    pub(crate) recorder: Recorder,
    pub(crate) passing: Passing,
    pub(crate) trace: Option<Trace>,
}

/// Progress that comes faster than this is not worth a message.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(10);

impl Context {
    pub(crate) fn new(around: Surroundings) -> Context {
        Context(
            Arc::new(Inner {
                client: around.client,
                session: around.session,
                reference: around.reference,
                cancel: around.cancel,
                outlet: around.outlet,
                server: around.server,
                progress: around.progress,
                last_progress: Mutex::default(),
                log_level: around.log_level,
                asking: around.asking,
                recorder: around.recorder,
                passing: around.passing,
                trace: around.trace,
                task: OnceLock::new(),
                detached: Notify::new(),
                noted: OnceLock::new(),
            }),
            None,
        )
    }

    /// The same request, for a room that calls a resource otherwise than its client does: what the room announces about
    /// it, the client hears under the name it knows.
    #[must_use]
    pub fn known_as(&self, inside: &str, outside: &str) -> Context {
        let alias = Alias { inside: inside.into(), outside: outside.into() };
        Context(self.0.clone(), Some(Arc::new(alias)))
    }

    /// Who is asking, and what their client can do.
    pub fn client(&self) -> &Client {
        &self.0.client
    }

    /// Who is asking, and in which of their conversations.
    pub fn party(&self) -> Party {
        Party { caller: self.0.client.caller.clone(), session: self.session_number() }
    }

    /// Whether this client reads what it is told here and there in one stream, and so slowly for both.
    pub fn reads_with(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.0.outlet, &other.0.outlet)
    }

    /// As whom it watches resources.
    pub fn watcher(&self) -> Watcher {
        let session = self.session_number().filter(|_| self.0.client.revision.era() == Era::Session);
        session.map_or(Watcher::Subscription(self.0.reference), Watcher::Session)
    }

    /// In which of all conversations this program ever had; `None` for a request that belongs to none.
    pub fn session_number(&self) -> Option<u64> {
        self.0.session.as_ref().map(|session| session.number)
    }

    /// Waits for nothing: it is the caller's turn to call this tool of this server, or it is refused. What comes back is
    /// held while the tool runs.
    pub async fn turn(&self, server: &str, tool: &str) -> Result<Passage, Fault> {
        let house = self.0.recorder.house();
        if !house.settings.turnstile.limits_tools() {
            return Ok(Passage::default());
        }
        // Rare and large, so kept apart: what every request is made of stays small.
        let tool = format!("{server}__{tool}");
        Box::pin(house.admit_call(&self.0.client.caller, &tool)).await
    }

    /// Set when the conversation is over; `None` for a request that belongs to none.
    pub fn end_of_session(&self) -> Option<&CancellationToken> {
        self.0.session.as_ref().map(|session| &session.ended)
    }

    /// The same client outside of this request, for what belongs to none; `None` where it can be told and asked within
    /// requests alone.
    pub fn beside(&self) -> Option<Context> {
        let (house, session) = (&self.0.recorder.0, self.0.session.as_ref()?);
        match session.client() {
            Some(_) => house.beside_requests(session),
            None => house.beside_introduction(session, &self.0.client),
        }
    }

    /// The reference of this exchange.
    pub fn reference(&self) -> Ref {
        self.0.reference
    }

    /// Writes a failure down for the operator, under the reference of this exchange, which itself goes on.
    pub fn report(&self, fault: Fault) {
        self.0.recorder.record(fault, self.0.client.revision, self.0.reference);
    }

    /// The trace this exchange is part of, where traces are kept.
    pub fn trace(&self) -> Option<&Trace> {
        self.0.trace.as_ref()
    }

    /// A step within the trace is over.
    pub fn end_span(&self, span: Span) {
        if let Some(tracer) = self.0.recorder.house().books.tracer() {
            tracer.end(span);
        }
    }

    /// Whether the caller called the request off, or hung up.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel.is_cancelled()
    }

    /// Completes when the caller called the request off.
    pub async fn cancelled(&self) {
        self.0.cancel.cancelled().await;
    }

    /// Tells the client how far the work is, if it asked to be told.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        if let (Some(task), Some(message)) = (self.0.task.get(), message) {
            task.touch(Some(message.to_owned()));
        }
        let is_watched = self.house().books.operations().has_listeners();
        if self.0.progress.is_none() && !is_watched || !self.is_worth_telling(done, total) {
            return;
        }
        let mut params = json!({"progress": done});
        if let Some(members) = params.as_object_mut() {
            total.map(|total| members.insert("total".to_owned(), json!(total)));
            message.map(|message| members.insert("message".to_owned(), json!(message)));
        }
        if is_watched {
            self.show_progress(&params).await;
        }
        if let (Some(token), Some(members)) = (&self.0.progress, params.as_object_mut()) {
            members.insert("progressToken".to_owned(), json!(token));
            self.notify("notifications/progress", &params).await;
        }
    }

    /// Tells developers who watch how far the work is, as far as the guards let it pass.
    async fn show_progress(&self, params: &Value) {
        let Some(clean) = self.house().porter.notice(&self.0.server, params.to_string()).await else {
            return;
        };
        let Ok(Value::Object(mut data)) = serde_json::from_str(&clean) else { return };
        data.remove("progressToken");
        data.insert("ref".to_owned(), json!(self.0.reference.to_string()));
        if !self.0.server.is_empty() {
            data.insert("server".to_owned(), json!(self.0.server));
        }
        let happening = Happening { number: None, event: "progress", data: data.into() };
        self.house().books.operations().tell(happening);
    }

    /// Progress must rise; the last step is always told, those in between not too often.
    fn is_worth_telling(&self, done: f64, total: Option<f64>) -> bool {
        let mut last = self.0.last_progress.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let worth = last.is_none_or(|(when, before)| {
            done > before && (total == Some(done) || now.duration_since(when) >= PROGRESS_INTERVAL)
        });
        if worth {
            *last = Some((now, done));
        }
        worth
    }

    /// Sends a log message to the client, if it wants to hear at this level. Never for secrets or other
    /// people's text: the client may show it to anybody.
    pub async fn log(&self, level: LogLevel, logger: &'static str, data: Value) {
        if self.0.log_level.is_some_and(|wanted| level >= wanted) {
            let params = json!({"level": level.as_str(), "logger": logger, "data": data});
            self.notify("notifications/message", &params).await;
        }
    }

    async fn notify(&self, method: &str, params: &Value) {
        let frame = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        self.tell(frame).await;
    }

    /// Sends a frame, if it may pass.
    async fn tell(&self, frame: String) {
        if let Some(frame) = self.house().porter.notice(&self.0.server, frame).await {
            // A reader that is gone is found out by whoever writes the answer.
            let _ = self.0.outlet.push(frame).await;
        }
    }

    /// Lets go of the client's connection for a while: a session client over HTTP comes back for the rest after
    /// `retry`. Elsewhere this does nothing.
    pub fn pause_stream(&self, retry: Duration) {
        self.0.outlet.pause(retry);
    }

    /// Tells every client that listens about a change.
    pub fn announce(&self, event: Event) {
        let event = match (event, &self.1) {
            (Event::ResourceUpdated(uri), Some(alias)) if *uri == *alias.inside => {
                Event::ResourceUpdated(alias.outside.clone())
            }
            (other, _) => other,
        };
        self.house().hub.announce(event);
    }

    /// Asks the client, whatever its era: a session client at once, a modern one by letting it repeat the
    /// request. Ask before doing anything that must not be done twice, and pass the fault on with `?`.
    pub async fn ask(&self, questions: &[(&str, Question)]) -> Result<Answers, Fault> {
        for (_, question) in questions {
            self.need(question.needs())?;
        }
        match self.0.task.get() {
            Some(task) => task.ask(questions).await,
            None => {
                let way =
                    Way { outlet: &self.0.outlet, porter: &self.house().porter, server: &self.0.server };
                self.0.asking.ask(questions, way).await
            }
        }
    }

    /// Refuses clients that lack a capability.
    pub fn need(&self, capability: Capability) -> Result<(), Fault> {
        if self.0.client.can(capability) {
            return Ok(());
        }
        Err(Fault::new(&reason::MCP_CAPABILITY).fact("required", vec![capability.as_str()]))
    }

    /// From here on the work is a task: the caller is answered at once and follows it.
    pub async fn become_task(&self, need: TaskNeed) -> Result<(), Fault> {
        if !self.0.client.can(Capability::Tasks) {
            return match need {
                TaskNeed::Required => self.need(Capability::Tasks),
                TaskNeed::Preferred => Ok(()),
            };
        }
        let task = self.house().tasks.create(&self.0.client.caller)?;
        if self.0.task.set(task).is_ok() {
            self.0.detached.notify_one();
            // Lets the walk see it before the work goes on, and perhaps ends.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Whether the work has become a task.
    pub fn is_task(&self) -> bool {
        self.0.task.get().is_some()
    }

    /// What there is to say about the task the work has become; nothing new is not told.
    pub fn tell_status(&self, message: Option<String>) {
        if let (Some(task), Some(message)) = (self.0.task.get(), message) {
            task.tell(message);
        }
    }

    /// Passes somebody else's notice on to the client, as it is.
    pub async fn relay_notice(&self, method: &str, params: &Json) {
        if method == "notifications/progress"
            && self.house().books.operations().has_listeners()
            && let Ok(params) = params.raw().parse::<Value>()
        {
            self.show_progress(&params).await;
        }
        let (method, params) = (failwell_rpc::json_string(method), params.text());
        let frame = format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#);
        self.tell(failwell_rpc::on_one_line(frame)).await;
    }

    /// What the request brought beyond what is understood here.
    pub fn passing(&self) -> &Passing {
        &self.0.passing
    }

    /// The token under which the client wants to hear of progress.
    pub fn progress_token(&self) -> Option<&Json> {
        self.0.progress.as_ref()
    }

    /// How much the client wants to hear.
    pub fn log_level(&self) -> Option<LogLevel> {
        self.0.log_level
    }

    /// How much the client said it wants to hear; `None` when it said nothing.
    pub fn chosen_log_level(&self) -> Option<LogLevel> {
        match (self.0.client.revision.era(), &self.0.session) {
            (Era::Session, Some(session)) => session.chosen_log_level(),
            _ => self.0.log_level,
        }
    }

    /// What a modern client brought under keys that begin so: answers to questions of an earlier round, and what
    /// was remembered then. Only what was remembered is sure to be ours.
    pub fn brought(&self, begins: &str) -> Vec<(String, Json)> {
        match &self.0.asking {
            Asking::Rounds(rounds) => rounds.brought(begins),
            Asking::Session(_) | Asking::Introducing(_) | Asking::Nobody => Vec::new(),
        }
    }

    /// Keeps something for the round in which a modern client brings its answers, sealed.
    pub fn remember(&self, key: &str, value: Json) {
        if let Asking::Rounds(rounds) = &self.0.asking {
            rounds.remember(key, value);
        }
    }

    pub(crate) async fn detached(&self) -> Option<Arc<Task>> {
        self.0.detached.notified().await;
        self.0.task.get().cloned()
    }

    pub(crate) fn house(&self) -> &House {
        self.0.recorder.house()
    }

    /// What a person decided about it. The first word counts.
    pub(crate) fn note(&self, noted: Noted) {
        let _ = self.0.noted.set(Box::new(noted));
    }

    pub(crate) fn noted(&self) -> Option<&Noted> {
        self.0.noted.get().map(AsRef::as_ref)
    }

    pub(crate) fn asking(&self) -> &Asking {
        &self.0.asking
    }
}
