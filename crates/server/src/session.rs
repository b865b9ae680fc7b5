//! One client's conversation in the session era, or one stdio connection in any era.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use failwell_fault::{Fault, reason};
use failwell_policy::Caller;
use failwell_rpc::{Id, Json, Revision};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::log_level::LogLevel;
use crate::stream::{Keep, Stream};

/// The most resources one session may watch, and the most questions it may have open.
const MOST: usize = 1_000;

/// The conversation.
#[derive(Debug)]
pub struct Session {
    /// Which one of all this process ever had.
    pub number: u64,
    /// The name it goes by, in logs and, over HTTP, in `Mcp-Session-Id`.
    pub id: String,
    /// Whose it is.
    pub caller: Caller,
    /// Notices that belong to no request, and on stdio everything.
    pub outbound: Arc<Stream>,
    /// Set when the conversation is over; stops everything it started.
    pub ended: CancellationToken,
    handshake: OnceLock<Client>,
    log_level: AtomicU8,
    has_chosen_level: AtomicBool,
    watched: Mutex<HashSet<String>>,
    running: Mutex<HashMap<Id, Vec<(u64, CancellationToken)>>>,
    next_running: AtomicU64,
    questions: Mutex<HashMap<u64, oneshot::Sender<Result<Json, ()>>>>,
    next_question: AtomicU64,
}

/// Whether two requests in flight may share an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedIds {
    /// On one stdio connection they could not be told apart.
    Refused,
    /// Over HTTP each answer belongs to its exchange.
    Allowed,
}

impl Session {
    /// A conversation that has not begun.
    pub fn new(id: String, caller: Caller, keep: Keep) -> Arc<Session> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Session {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            id,
            caller,
            outbound: Arc::new(Stream::new(keep)),
            ended: CancellationToken::new(),
            handshake: OnceLock::new(),
            log_level: AtomicU8::new(LogLevel::Info as u8),
            has_chosen_level: AtomicBool::new(false),
            watched: Mutex::default(),
            running: Mutex::default(),
            next_running: AtomicU64::new(0),
            questions: Mutex::default(),
            next_question: AtomicU64::new(1),
        })
    }

    /// Settles revision and capabilities, once.
    pub fn begin(&self, revision: Revision, capabilities: Option<Json>) -> Result<(), Fault> {
        let client = Client::new(self.caller.clone(), revision, capabilities);
        self.handshake.set(client).map_err(|_| Fault::new(&reason::MCP_ALREADY_INITIALIZED))
    }

    /// The client, once it has introduced itself.
    pub fn client(&self) -> Option<&Client> {
        self.handshake.get()
    }

    /// The revision in use; before the handshake the newest session revision.
    pub fn revision(&self) -> Revision {
        self.client().map_or(Revision::LATEST_SESSION, |client| client.revision)
    }

    /// How much the client wants to hear.
    pub fn log_level(&self) -> LogLevel {
        LogLevel::from_index(self.log_level.load(Ordering::Relaxed))
    }

    /// The client wants to hear this much.
    pub fn set_log_level(&self, level: LogLevel) {
        self.log_level.store(level as u8, Ordering::Relaxed);
        self.has_chosen_level.store(true, Ordering::Relaxed);
    }

    /// How much the client said it wants to hear; `None` as long as it said nothing.
    pub fn chosen_log_level(&self) -> Option<LogLevel> {
        self.has_chosen_level.load(Ordering::Relaxed).then(|| self.log_level())
    }

    /// Watches a resource.
    pub fn watch(&self, uri: &str) -> Result<(), Fault> {
        let mut watched = lock(&self.watched);
        if watched.len() >= MOST && !watched.contains(uri) {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST));
        }
        watched.insert(uri.to_owned());
        Ok(())
    }

    /// Stops watching a resource.
    pub fn unwatch(&self, uri: &str) {
        lock(&self.watched).remove(uri);
    }

    /// Whether a resource is watched.
    pub fn watches(&self, uri: &str) -> bool {
        lock(&self.watched).contains(uri)
    }

    /// Notes that a request runs and can be cancelled; undone when the guard goes.
    pub fn start(
        self: &Arc<Self>,
        id: &Id,
        cancel: &CancellationToken,
        ids: SharedIds,
    ) -> Result<Running, Fault> {
        let mut running = lock(&self.running);
        let same = running.entry(id.clone()).or_default();
        if ids == SharedIds::Refused && !same.is_empty() {
            return Err(Fault::new(&reason::RPC_DUPLICATE_ID));
        }
        let number = self.next_running.fetch_add(1, Ordering::Relaxed);
        same.push((number, cancel.clone()));
        Ok(Running { session: self.clone(), id: id.clone(), number })
    }

    /// The client called a request off. Unknown and finished ones are nobody's concern.
    pub fn cancel(&self, id: &Id) {
        if let Some(tokens) = lock(&self.running).get(id) {
            tokens.iter().for_each(|(_, cancel)| cancel.cancel());
        }
    }

    /// Opens a question to the client: its id, and where the answer will come.
    pub fn open_question(&self) -> Result<(u64, oneshot::Receiver<Result<Json, ()>>), Fault> {
        let mut questions = lock(&self.questions);
        questions.retain(|_, waiting| !waiting.is_closed());
        if questions.len() >= MOST {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST));
        }
        let id = self.next_question.fetch_add(1, Ordering::Relaxed);
        let (answer, waiting) = oneshot::channel();
        questions.insert(id, answer);
        Ok((id, waiting))
    }

    /// The client answered a question. Answers nobody waits for are dropped.
    pub fn answer(&self, id: &Id, body: Result<Json, ()>) {
        let asked = id.as_u64().and_then(|id| lock(&self.questions).remove(&id));
        if let Some(waiting) = asked {
            let _ = waiting.send(body);
        }
    }

    /// The client can answer no more: those who wait for it learn so at once.
    pub fn close_questions(&self) {
        lock(&self.questions).clear();
    }

    /// Ends the conversation and everything it started.
    pub fn end(&self) {
        self.ended.cancel();
        self.close_questions();
        self.outbound.finish();
    }
}

/// A request on its way; forgotten when dropped.
#[derive(Debug)]
pub struct Running {
    session: Arc<Session>,
    id: Id,
    number: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = lock(&self.session.running);
        let now_empty = running.get_mut(&self.id).is_none_or(|same| {
            same.retain(|(number, _)| *number != self.number);
            same.is_empty()
        });
        if now_empty {
            running.remove(&self.id);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
