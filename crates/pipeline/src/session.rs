//! One client's session in the session era, or one stdio connection in any era.

pub(crate) mod hub;
pub(crate) mod listen;
pub(crate) mod nodes;
pub(crate) mod notifications;
pub(crate) mod question_route;
pub(crate) mod seal;
pub(crate) mod slots;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod task;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_rpc::Caller;
use failwell_rpc::{Id, Json, Limits, Revision};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::session::state::SharedSession;
use crate::session::stream::{FrameRetention, Stream};
use failwell_toolbox::Client;
use failwell_toolbox::LogLevel;
use parking_lot::Mutex;

/// The maximum number of subscribed resources and of open questions per session.
const MOST: usize = 1_000;

/// The maximum time that questions wait for the end of a client's handshake.
const INTRODUCTION: Duration = Duration::from_secs(15);

/// The id of the session on standard input and output.
pub const STDIO: &str = "stdio";

#[derive(Debug)]
pub struct Session {
    /// The number of the session, unique in this process.
    pub number: u64,
    /// The id in logs and, over HTTP, in `Mcp-Session-Id`.
    pub id: String,
    pub caller: Caller,
    /// Notifications outside any request; on stdio, all messages.
    pub outbound: Arc<Stream>,
    /// Set when the session ends. It stops all work of the session.
    pub ended: CancellationToken,
    handshake: OnceLock<Client>,
    /// Set when the client reports the end of the handshake.
    introduced: CancellationToken,
    log_level: AtomicU8,
    has_chosen_level: AtomicBool,
    watched: Mutex<HashSet<String>>,
    running: Mutex<HashMap<Id, Vec<(u64, CancellationToken)>>>,
    next_running: AtomicU64,
    questions: Mutex<HashMap<u64, Open>>,
    next_question: AtomicU64,
}

/// An unanswered question.
#[derive(Debug)]
struct Open {
    answer: oneshot::Sender<Result<Json, ()>>,
    /// Receives progress of the answer.
    progress: Option<mpsc::Sender<Json>>,
}

type AnswerReceiver = oneshot::Receiver<Result<Json, ()>>;

/// Whether two requests in flight may share an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedIds {
    /// On one stdio connection their responses could not be told apart.
    Refused,
    /// Over HTTP each response belongs to its own exchange.
    Allowed,
}

/// The node that a client's message concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConcernedNode {
    /// This node, or none.
    ThisNode,
    /// Not this node; another node may know the subject.
    OtherNode,
}

impl Session {
    /// Creates a session before its handshake.
    pub fn new(id: String, caller: Caller, keep: FrameRetention) -> Arc<Session> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Session {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            id,
            caller,
            outbound: Arc::new(Stream::new(keep)),
            ended: CancellationToken::new(),
            handshake: OnceLock::new(),
            introduced: CancellationToken::new(),
            log_level: AtomicU8::new(LogLevel::Info as u8),
            has_chosen_level: AtomicBool::new(false),
            watched: Mutex::default(),
            running: Mutex::default(),
            next_running: AtomicU64::new(0),
            questions: Mutex::default(),
            next_question: AtomicU64::new(1),
        })
    }

    /// Restores a session that began on another node.
    pub fn recalled(id: String, caller: Caller, shared: &SharedSession) -> Result<Arc<Session>, Fault> {
        let session = Session::new(id, caller, FrameRetention::Recent);
        let revision = Revision::parse(&shared.revision).or_fault(&reason::SERVER_BUG)?;
        let capabilities = shared.capabilities.as_deref();
        let capabilities = capabilities.and_then(|text| Json::read(text, &Limits::default()).ok());
        session.begin(revision, capabilities)?;
        session.number_apart();
        session.refresh(shared);
        Ok(session)
    }

    /// The state that another node needs to continue the session; `None` before the handshake.
    pub fn shared_state(&self) -> Option<SharedSession> {
        let client = self.client()?;
        Some(SharedSession {
            caller: self.caller.to_string(),
            revision: client.revision.as_str().to_owned(),
            capabilities: client.capabilities().map(|json| json.text().to_owned()),
            level: self.log_level.load(Ordering::Relaxed),
            watched: self.watched.lock().iter().cloned().collect(),
        })
    }

    /// Applies the changes of another node, and returns the newly subscribed resources.
    pub fn refresh(&self, shared: &SharedSession) -> Vec<String> {
        self.log_level.store(shared.level, Ordering::Relaxed);
        let now: HashSet<String> = shared.watched.iter().take(MOST).cloned().collect();
        let before = std::mem::replace(&mut *self.watched.lock(), now.clone());
        now.into_iter().filter(|uri| !before.contains(uri)).collect()
    }

    /// Moves the question ids to a random range, so that nodes asking the same client use different ids.
    pub fn number_apart(&self) {
        let apart = u64::from(getrandom::u32().unwrap_or(1)) << 20;
        self.next_question.store(apart + 1, Ordering::Relaxed);
    }

    /// Sets revision and capabilities, once.
    pub fn begin(&self, revision: Revision, capabilities: Option<Json>) -> Result<(), Fault> {
        let client = Client::new(self.caller.clone(), revision, capabilities);
        self.handshake.set(client).map_err(|_| Fault::new(&reason::MCP_ALREADY_INITIALIZED))
    }

    /// The client; `None` before the handshake.
    pub fn client(&self) -> Option<&Client> {
        self.handshake.get()
    }

    /// Handles the client's report that the handshake is over. A report before `initialize` is ignored.
    pub(crate) fn finish_introduction(&self) {
        if self.client().is_some() {
            self.introduced.cancel();
        }
    }

    /// Waits until the client may be asked. After a timeout the client is asked anyway: its report may have
    /// reached another node.
    pub(crate) async fn introduced(&self) -> Result<(), Fault> {
        let initialized = tokio::time::timeout(INTRODUCTION, self.introduced.cancelled());
        tokio::select! {
            biased;
            () = self.ended.cancelled() => return Err(Fault::new(&reason::MCP_CLIENT_REFUSED)),
            _ = initialized => self.finish_introduction(),
        }
        self.client().map(|_| ()).or_fault(&reason::MCP_NOT_INITIALIZED)
    }

    /// The negotiated revision; before the handshake, the newest session revision.
    pub fn revision(&self) -> Revision {
        self.client().map_or(Revision::LATEST_SESSION, |client| client.revision)
    }

    /// The least severe log message that the client wants.
    pub fn log_level(&self) -> LogLevel {
        LogLevel::from_index(self.log_level.load(Ordering::Relaxed))
    }

    pub fn set_log_level(&self, level: LogLevel) {
        self.log_level.store(level as u8, Ordering::Relaxed);
        self.has_chosen_level.store(true, Ordering::Relaxed);
    }

    /// The log level that the client chose; `None` if it chose none.
    pub fn chosen_log_level(&self) -> Option<LogLevel> {
        self.has_chosen_level.load(Ordering::Relaxed).then(|| self.log_level())
    }

    /// Subscribes to a resource.
    pub fn watch(&self, uri: &str) -> Result<(), Fault> {
        let mut watched = self.watched.lock();
        if watched.len() >= MOST && !watched.contains(uri) {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST));
        }
        watched.insert(uri.to_owned());
        Ok(())
    }

    /// Ends the subscription to a resource.
    pub fn unwatch(&self, uri: &str) {
        self.watched.lock().remove(uri);
    }

    /// Whether the session is subscribed to a resource.
    pub fn watches(&self, uri: &str) -> bool {
        self.watched.lock().contains(uri)
    }

    /// Registers a running request, so that it can be cancelled. Dropping the result unregisters it.
    pub fn start(
        self: &Arc<Self>,
        id: &Id,
        cancel: &CancellationToken,
        ids: SharedIds,
    ) -> Result<RunningRequest, Fault> {
        let mut running = self.running.lock();
        let same = running.entry(id.clone()).or_default();
        if ids == SharedIds::Refused && !same.is_empty() {
            return Err(Fault::new(&reason::RPC_DUPLICATE_ID));
        }
        let number = self.next_running.fetch_add(1, Ordering::Relaxed);
        same.push((number, cancel.clone()));
        Ok(RunningRequest { session: self.clone(), id: id.clone(), number })
    }

    /// Cancels a request for the client. An id that is unknown here may belong to another node.
    pub fn cancel(&self, id: &Id) -> ConcernedNode {
        match self.running.lock().get(id) {
            Some(tokens) => {
                tokens.iter().for_each(|(_, cancel)| cancel.cancel());
                ConcernedNode::ThisNode
            }
            None => ConcernedNode::OtherNode,
        }
    }

    /// Opens a question to the client. Returns its id and the receiver of the answer. `progress` receives
    /// progress of the answer.
    pub(crate) fn open_question(
        &self,
        progress: Option<mpsc::Sender<Json>>,
    ) -> Result<(u64, AnswerReceiver), Fault> {
        let mut questions = self.questions.lock();
        questions.retain(|_, open| !open.answer.is_closed());
        if questions.len() >= MOST {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST));
        }
        let id = self.next_question.fetch_add(1, Ordering::Relaxed);
        let (answer, waiting) = oneshot::channel();
        questions.insert(id, Open { answer, progress });
        Ok((id, waiting))
    }

    /// Delivers the client's answer to a question. An answer without a question is dropped.
    pub fn answer(&self, id: &Id, body: Result<Json, ()>) -> ConcernedNode {
        let asked = id.as_u64().and_then(|id| self.questions.lock().remove(&id));
        let Some(open) = asked else { return ConcernedNode::OtherNode };
        let _ = open.answer.send(body);
        ConcernedNode::ThisNode
    }

    /// The receiver for progress of the answer to this question.
    pub(crate) fn follower(&self, question: u64) -> Option<mpsc::Sender<Json>> {
        self.questions.lock().get(&question)?.progress.clone()
    }

    /// Fails all open questions at once, because the client can no longer answer.
    pub fn close_questions(&self) {
        self.questions.lock().clear();
    }

    /// Ends the session and all its work.
    pub fn end(&self) {
        self.ended.cancel();
        self.close_questions();
        self.outbound.finish();
    }
}

/// A running request; unregistered on drop.
#[derive(Debug)]
pub struct RunningRequest {
    session: Arc<Session>,
    id: Id,
    number: u64,
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        let mut running = self.session.running.lock();
        let now_empty = running.get_mut(&self.id).is_none_or(|same| {
            same.retain(|(number, _)| *number != self.number);
            same.is_empty()
        });
        if now_empty {
            running.remove(&self.id);
        }
    }
}
