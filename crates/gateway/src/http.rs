//! An upstream reached over streamable HTTP, in either era.
//!
//! Every request is an exchange of its own: what comes on its stream belongs to it, and hanging up on it ends it.

mod answer;
mod ear;
pub(crate) mod faults;
mod headers;
mod params;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Fault, reason};
use failwell_rpc::{Era, Id, Revision};
use failwell_server::{Event, Trace};
use failwell_transport::{HeadLines, Verb};
use http::header::HeaderValue;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub(crate) use self::params::{Repeated, marked};
use crate::door::Door;
use crate::line::{Down, MOST_NOTICES, MOST_WAITING};
use crate::link::{Pending, Written};
use crate::notice::{Notice, pass_on};
use crate::patrons::Patrons;
use crate::relay::Relay;
use crate::said::Said;
use crate::settings::UpstreamSettings;
use crate::token::Tokens;

/// How long a message nobody waits for may take to be delivered.
const DELIVERY: Duration = Duration::from_secs(10);
/// How long the end of a session may take to be told.
const FAREWELL: Duration = Duration::from_secs(2);
/// The most resources watched over one connection.
const MOST_WATCHED: usize = 1_000;

/// The other side.
#[derive(Debug)]
pub(crate) struct Peer {
    door: Door,
    next: AtomicU64,
    revision: OnceLock<Revision>,
    lost: AtomicBool,
    state: Mutex<State>,
    notices: mpsc::Sender<Notice>,
    watched: watch::Sender<BTreeSet<String>>,
    repeated: Arc<Repeated>,
    pub(crate) patrons: Arc<Patrons>,
    largest: usize,
    stop: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    session: Option<HeaderValue>,
    running: BTreeMap<u64, Option<Relay>>,
}

/// What there is to learn from the answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Learns {
    /// Which session was begun.
    Session,
    /// Which arguments are repeated in headers.
    Tools,
    Nothing,
}

/// Prepares a connection; nothing is sent yet. It ends when `stop` is set.
pub(crate) fn connect(
    settings: &UpstreamSettings,
    repeated: Arc<Repeated>,
    tokens: Option<Arc<Tokens>>,
    stop: CancellationToken,
    changed: impl Fn(Event) + Send + 'static,
) -> Result<Arc<Peer>, Fault> {
    let (notices, heard) = mpsc::channel(MOST_NOTICES);
    let peer = Arc::new(Peer {
        door: Door::of(settings, tokens)?,
        next: AtomicU64::new(1),
        revision: OnceLock::new(),
        lost: AtomicBool::new(false),
        state: Mutex::default(),
        notices,
        watched: watch::Sender::default(),
        repeated,
        patrons: Arc::default(),
        largest: settings.largest_message,
        stop,
    });
    tokio::spawn(pass_on(heard, changed));
    tokio::spawn(see_off(peer.clone()));
    Ok(peer)
}

/// Ends the session when the connection is stopped.
async fn see_off(peer: Arc<Peer>) {
    peer.stop.cancelled().await;
    if peer.lock().session.is_some() && !peer.is_lost() {
        let farewell = peer.door.say(Verb::Delete, peer.session_headers(), Bytes::new());
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    }
}

impl Peer {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn era(&self) -> Option<Era> {
        self.revision.get().map(|revision| revision.era())
    }

    /// A request, which leaves when its answer is first waited for.
    pub(crate) fn send(
        self: &Arc<Self>,
        trace: Option<&Trace>,
        method: &str,
        params: impl FnOnce(u64, &mut String),
        relay: Option<Relay>,
    ) -> Pending {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let learns = match method {
            "initialize" => Learns::Session,
            "tools/list" => Learns::Tools,
            _ => Learns::Nothing,
        };
        let written = Written::new(number, method, |out| params(number, out));
        let mut headers = self.headers_for(method, written.params());
        if let Some(trace) = trace {
            headers::join(&mut headers, trace);
        }
        let body = written.text;
        let peer = self.clone();
        let answer = Box::pin(async move {
            let _running = peer.enter(number, relay)?;
            tokio::select! {
                biased;
                () = peer.stop.cancelled() => Err(Down::Stopped.fault()),
                said = peer.exchange(number, headers, body, learns) => said,
            }
        });
        Pending { number, answer }
    }

    fn enter(&self, number: u64, relay: Option<Relay>) -> Result<Running<'_>, Fault> {
        let mut state = self.lock();
        if state.running.len() >= MOST_WAITING {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WAITING));
        }
        state.running.insert(number, relay);
        Ok(Running { peer: self, number })
    }

    async fn exchange(
        self: &Arc<Self>,
        number: u64,
        headers: HeadLines,
        body: String,
        learns: Learns,
    ) -> Result<Said, Fault> {
        let said = self.door.say(Verb::Post, headers, Bytes::from(body)).await;
        let heard = said.map_err(|why| self.unsaid(why))?;
        if learns == Learns::Session {
            let session = heard.header("mcp-session-id").and_then(|id| HeaderValue::from_str(id).ok());
            self.lock().session = session;
        }
        let said = self.answer(number, heard).await?;
        if let (Learns::Tools, Some(Era::Modern), Said::Result(page)) = (learns, self.era(), &said) {
            self.repeated.learn(page);
        }
        Ok(said)
    }

    /// From here on this revision is spoken.
    pub(crate) fn settle(&self, revision: Revision) {
        let _ = self.revision.set(revision);
    }

    /// Listens to what the upstream says of its own accord.
    pub(crate) fn listen(self: &Arc<Self>) {
        tokio::spawn(ear::listen(self.clone()));
    }

    /// Whether a new introduction is needed.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    fn lose(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Whether anybody waits for an answer.
    pub(crate) fn is_busy(&self) -> bool {
        !self.lock().running.is_empty()
    }

    /// An answer is no longer wanted. In the modern era hanging up has said so already.
    pub(crate) fn call_off(self: &Arc<Self>, number: u64) {
        if self.era() == Some(Era::Session) {
            let params = json!({"requestId": number, "reason": "no longer wanted"});
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            self.post(notice.to_string());
        }
    }

    /// Hears of changes of a resource from now on.
    pub(crate) fn watch(&self, uri: &str) -> Result<(), Fault> {
        if self.watched.borrow().len() >= MOST_WATCHED {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WATCHED));
        }
        self.watched.send_if_modified(|watched| watched.insert(uri.to_owned()));
        Ok(())
    }

    /// Nobody wants to hear of changes of a resource any more.
    pub(crate) fn unwatch(&self, uri: &str) {
        self.watched.send_if_modified(|watched| watched.remove(uri));
    }

    /// Whether the upstream keeps a session with us.
    pub(crate) fn has_session(&self) -> bool {
        self.lock().session.is_some()
    }

    /// Answers a question of the upstream.
    pub(crate) fn reply(self: &Arc<Self>, id: &Id, result: &str) {
        self.post(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.text()));
    }

    /// Declines a question of the upstream.
    pub(crate) fn decline(self: &Arc<Self>, id: &Id, code: i32, message: &'static str) {
        let error = json!({"code": code, "message": message});
        self.post(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.text()));
    }

    /// Sends a message beside everything else. A modern upstream takes nothing but requests.
    fn post(self: &Arc<Self>, message: String) {
        if self.era() == Some(Era::Session) {
            let peer = self.clone();
            tokio::spawn(async move { peer.deliver(message).await });
        }
    }

    /// Sends a message that has no answer.
    pub(crate) async fn deliver(&self, message: String) {
        let sending = async {
            let sent = self.door.say(Verb::Post, self.session_headers(), Bytes::from(message)).await;
            if let Ok(heard) = sent {
                // Read to its end, so that the connection can be used again.
                let _ = heard.whole(self.largest).await;
            }
        };
        let _ = tokio::time::timeout(DELIVERY, sending).await;
    }
}

/// A request that is waited for.
struct Running<'a> {
    peer: &'a Peer,
    number: u64,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.peer.lock().running.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, CancellationToken, connect};
    use crate::settings::{Reach, UpstreamSettings};

    /// The most bytes a thread takes from memory of its own; what is larger is taken from memory that threads share.
    const OWN: usize = 1_032;

    #[tokio::test]
    async fn a_call_is_made_of_little() {
        let reach = Reach::Http { url: "http://127.0.0.1:9/mcp".to_owned(), headers: Vec::new() };
        let settings = UpstreamSettings::new("up", reach);
        let peer =
            connect(&settings, Arc::default(), None, CancellationToken::new(), |_| {}).expect("a peer");
        let pending = peer.send(None, "tools/call", |_, out| out.push_str("{}"), None);
        assert!(size_of_val(&*pending.answer) <= OWN, "{} bytes", size_of_val(&*pending.answer));
    }
}
