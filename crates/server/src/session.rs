//! One client's conversation in the session era, or one stdio connection in any era.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use failwell_fault::{Fault, OrFault, reason};
use failwell_policy::Caller;
use failwell_rpc::{Id, Json, Limits, Revision};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::log_level::LogLevel;
use crate::state::KeptSession;
use crate::stream::{Keep, Stream};

/// The most resources one session may watch, and the most questions it may have open.
const MOST: usize = 1_000;

/// How long what is asked while a client introduces itself is held until it says that this is over.
const INTRODUCTION: Duration = Duration::from_secs(15);

/// The name of the one conversation on standard input and output.
pub const STDIO: &str = "stdio";

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
    /// Set when the client said that the handshake is over.
    introduced: CancellationToken,
    log_level: AtomicU8,
    has_chosen_level: AtomicBool,
    watched: Mutex<HashSet<String>>,
    running: Mutex<HashMap<Id, Vec<(u64, CancellationToken)>>>,
    next_running: AtomicU64,
    questions: Mutex<HashMap<u64, Open>>,
    next_question: AtomicU64,
}

/// A question that was not answered yet.
#[derive(Debug)]
struct Open {
    answer: oneshot::Sender<Result<Json, ()>>,
    /// Who wants to hear how far the answer is.
    progress: Option<mpsc::Sender<Json>>,
}

/// Where an answer will come.
type Waiting = oneshot::Receiver<Result<Json, ()>>;

/// Whether two requests in flight may share an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedIds {
    /// On one stdio connection they could not be told apart.
    Refused,
    /// Over HTTP each answer belongs to its exchange.
    Allowed,
}

/// Whose something is that a client spoke of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// This node's, or nobody's.
    Ours,
    /// Nothing here; another node may know it.
    Others,
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

    /// A conversation that began on another node.
    pub fn recalled(id: String, caller: Caller, kept: &KeptSession) -> Result<Arc<Session>, Fault> {
        let session = Session::new(id, caller, Keep::Recent);
        let revision = Revision::parse(&kept.revision).or_fault(&reason::SERVER_BUG)?;
        let capabilities = kept.capabilities.as_deref();
        let capabilities = capabilities.and_then(|text| Json::read(text, &Limits::default()).ok());
        session.begin(revision, capabilities)?;
        session.number_apart();
        session.refresh(kept);
        Ok(session)
    }

    /// What another node needs to go on with the conversation, once it has begun.
    pub fn kept(&self) -> Option<KeptSession> {
        let client = self.client()?;
        Some(KeptSession {
            caller: self.caller.to_string(),
            revision: client.revision.as_str().to_owned(),
            capabilities: client.capabilities().map(|json| json.text().to_owned()),
            level: self.log_level.load(Ordering::Relaxed),
            watched: lock(&self.watched).iter().cloned().collect(),
        })
    }

    /// Takes over what another node changed, and says which resources are watched that were not.
    pub fn refresh(&self, kept: &KeptSession) -> Vec<String> {
        self.log_level.store(kept.level, Ordering::Relaxed);
        let now: HashSet<String> = kept.watched.iter().take(MOST).cloned().collect();
        let before = std::mem::replace(&mut *lock(&self.watched), now.clone());
        now.into_iter().filter(|uri| !before.contains(uri)).collect()
    }

    /// Questions of several nodes to one client must not share numbers.
    pub fn number_apart(&self) {
        let apart = u64::from(getrandom::u32().unwrap_or(1)) << 20;
        self.next_question.store(apart + 1, Ordering::Relaxed);
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

    /// The client says that the handshake is over. Whoever says so ahead of its end is not believed.
    pub(crate) fn finish_introduction(&self) {
        if self.client().is_some() {
            self.introduced.cancel();
        }
    }

    /// Waits until the client may be asked things. One that never says so, or tells another node, is asked all the same.
    pub(crate) async fn introduced(&self) -> Result<(), Fault> {
        let told = tokio::time::timeout(INTRODUCTION, self.introduced.cancelled());
        tokio::select! {
            biased;
            () = self.ended.cancelled() => return Err(Fault::new(&reason::MCP_CLIENT_REFUSED)),
            _ = told => self.finish_introduction(),
        }
        self.client().map(|_| ()).or_fault(&reason::MCP_NOT_INITIALIZED)
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
    pub fn cancel(&self, id: &Id) -> Concern {
        match lock(&self.running).get(id) {
            Some(tokens) => {
                tokens.iter().for_each(|(_, cancel)| cancel.cancel());
                Concern::Ours
            }
            None => Concern::Others,
        }
    }

    /// Opens a question to the client: its id, and where the answer will come. `progress` hears how far it is.
    pub(crate) fn open_question(
        &self,
        progress: Option<mpsc::Sender<Json>>,
    ) -> Result<(u64, Waiting), Fault> {
        let mut questions = lock(&self.questions);
        questions.retain(|_, open| !open.answer.is_closed());
        if questions.len() >= MOST {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST));
        }
        let id = self.next_question.fetch_add(1, Ordering::Relaxed);
        let (answer, waiting) = oneshot::channel();
        questions.insert(id, Open { answer, progress });
        Ok((id, waiting))
    }

    /// The client answered a question. Answers nobody waits for are dropped.
    pub fn answer(&self, id: &Id, body: Result<Json, ()>) -> Concern {
        let asked = id.as_u64().and_then(|id| lock(&self.questions).remove(&id));
        let Some(open) = asked else { return Concern::Others };
        let _ = open.answer.send(body);
        Concern::Ours
    }

    /// Who wants to hear how far the answer to this question is.
    pub(crate) fn follower(&self, question: u64) -> Option<mpsc::Sender<Json>> {
        lock(&self.questions).get(&question)?.progress.clone()
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
