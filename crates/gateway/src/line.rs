//! Many requests at once over one connection to an upstream.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Effect, Fault, OrFault, reason};
use failwell_rpc::{
    About, Id, Incoming, Json, Letter, Limits, Message, Notification, Raw, Request, Response, on_one_line,
};
use failwell_server::{Keep, Stream};
use failwell_transport::id_in_start;
use serde_json::json;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};

use crate::link::{Link, Pending, Written};
use crate::notice::{ForClient, Notice};
use crate::patrons::Patrons;
use crate::relay::Relay;
use crate::said::Said;
use crate::tally::{Strays, Tally};

/// The most requests that wait on one connection.
pub(crate) const MOST_WAITING: usize = 4_096;
/// The most notices that wait to be passed on.
pub(crate) const MOST_NOTICES: usize = 256;

/// Within so many bytes a call names its method, as far as anybody writes them.
const NAMED_BY: usize = 1_024;
const METHOD: &[u8] = b"\"method\"";

/// A connection, whatever carries it.
#[derive(Debug)]
pub(crate) struct Line {
    next: AtomicU64,
    state: Mutex<State>,
    outgoing: Arc<Stream>,
    notices: mpsc::Sender<Notice>,
    strays: Strays,
    pub(crate) patrons: Arc<Patrons>,
    /// How many messages and stray lines came.
    heard: AtomicU64,
    examined: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<u64, Waiting>,
    /// Resources that are watched, and the request that asked to hear of each.
    watches: HashMap<String, u64>,
    down: Option<Down>,
}

#[derive(Debug)]
struct Waiting {
    answer: Answering,
    relay: Option<Relay>,
    /// Whether notices about it may still be on their way, which the answer must not overtake.
    noticed: bool,
}

/// Where an answer goes.
pub(crate) type Answering = oneshot::Sender<Result<Said, Fault>>;

/// Why a connection is no more.
#[derive(Debug, Clone)]
pub(crate) enum Down {
    /// The process ended, with this code or by this signal; and the last of what it said on standard error.
    Ended { code: Option<i32>, signal: Option<String>, stderr: String },
    /// The connection broke off.
    Lost,
    /// We ended it.
    Stopped,
    /// It said nothing at all for so long, though it was asked whether it is there.
    Silent(Duration),
}

/// What became of a connection when a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connection {
    Good,
    Gone,
}

impl Down {
    /// The fault for a request that was on its way.
    pub(crate) fn fault(&self) -> Fault {
        match self {
            Down::Lost | Down::Stopped => {
                Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).with_effect(Effect::Unknown)
            }
            Down::Silent(patience) => {
                Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).with_effect(Effect::Unknown).note(
                    "health",
                    format!("it said nothing for {patience:?} when asked whether it is there, and was ended"),
                )
            }
            Down::Ended { code, signal, stderr } => {
                let fault = Fault::new(&reason::GATEWAY_UPSTREAM_CRASHED)
                    .with_effect(Effect::Unknown)
                    .capture("stderr", stderr.as_str());
                let fault = match code {
                    Some(code) => fault.fact("exit_code", *code),
                    None => fault,
                };
                match signal.as_deref().and_then(failwell_fault::Name::parse) {
                    Some(signal) => fault.fact("signal", signal),
                    None => fault,
                }
            }
        }
    }
}

impl Line {
    pub(crate) fn new(tally: Arc<Tally>) -> (Arc<Line>, mpsc::Receiver<Notice>) {
        let (notices, heard) = mpsc::channel(MOST_NOTICES);
        let line = Line {
            next: AtomicU64::new(1),
            state: Mutex::default(),
            outgoing: Arc::new(Stream::new(Keep::Nothing)),
            notices,
            strays: Strays::of(tally),
            patrons: Arc::default(),
            heard: AtomicU64::new(0),
            examined: AtomicBool::new(false),
        };
        (Arc::new(line), heard)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to be written.
    pub(crate) fn outgoing(&self) -> &Arc<Stream> {
        &self.outgoing
    }

    /// Sends a request. `params` is told the number, for tokens that must be ours, and where to write them.
    pub(crate) async fn send(
        &self,
        method: &str,
        params: impl FnOnce(u64, &mut String),
        relay: Option<Relay>,
    ) -> Result<Pending, Fault> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.register(number, Waiting { answer: sender, relay, noticed: false })?;
        let mut unsent = Unsent { line: self, number: Some(number) };
        let frame = Written::new(number, method, |out| params(number, out)).text;
        // When it never left, nothing can have happened.
        let pushed = self.outgoing.push(on_one_line(frame)).await;
        pushed.map_err(|gone| Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).because(gone))?;
        unsent.number = None;
        let answer = Box::pin(async move { answer.await.or_fault(&reason::GATEWAY_UPSTREAM_DOWN)? });
        Ok(Pending { number, answer })
    }

    fn register(&self, number: u64, waiting: Waiting) -> Result<(), Fault> {
        let mut state = self.lock();
        if state.down.is_some() {
            return Err(Fault::new(&reason::GATEWAY_UPSTREAM_DOWN));
        }
        if state.waiting.len() >= MOST_WAITING {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WAITING));
        }
        state.waiting.insert(number, waiting);
        Ok(())
    }

    /// Nobody waits for this one any more.
    pub(crate) fn forget(&self, number: u64) {
        self.lock().waiting.remove(&number);
    }

    /// Tells the upstream that an answer is no longer wanted.
    pub(crate) fn call_off(&self, number: u64) {
        self.forget(number);
        self.outgoing.push_now(calling_off(number));
    }

    /// Hears of changes of a resource. The answer to the request is its end, which nobody waits for; a request for each
    /// resource is all there is, however often it is asked for.
    pub(crate) async fn watch(self: &Arc<Self>, uri: &str, params: &str) -> Result<(), Fault> {
        let asked = self.send("subscriptions/listen", |_, out| out.push_str(params), None).await?;
        let before = self.lock().watches.insert(uri.to_owned(), asked.number);
        self.end_watch(before);
        Ok(())
    }

    /// Nobody wants to hear of changes of a resource any more.
    pub(crate) fn unwatch(self: &Arc<Self>, uri: &str) {
        let asked = self.lock().watches.remove(uri);
        self.end_watch(asked);
    }

    fn end_watch(self: &Arc<Self>, asked: Option<u64>) {
        // One the upstream has ended already is over.
        let Some(number) = asked.filter(|number| self.lock().waiting.remove(number).is_some()) else {
            return;
        };
        let line = self.clone();
        // Many can end at once, and one that is lost would be told of for ever: each waits for its place.
        tokio::spawn(async move { line.outgoing.push(calling_off(number)).await });
    }

    /// Sends a notice.
    pub(crate) fn tell(&self, notice: String) {
        self.outgoing.push_now(on_one_line(notice));
    }

    /// Whether the connection is gone.
    pub(crate) fn is_down(&self) -> bool {
        self.lock().down.is_some()
    }

    /// Whether anybody waits for an answer.
    pub(crate) fn is_busy(&self) -> bool {
        self.lock().waiting.values().any(|waiting| !waiting.answer.is_closed())
    }

    /// How much came from the other side.
    pub(crate) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    /// Whether nobody else finds out already if the other side is there.
    pub(crate) fn begin_examination(&self) -> bool {
        !self.examined.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn end_examination(&self) {
        self.examined.store(false, Ordering::Relaxed);
    }

    /// The connection is gone: everybody who waits learns why.
    pub(crate) fn go_down(&self, why: &Down) {
        let waiting = {
            let mut state = self.lock();
            if state.down.is_none() {
                // Before whoever waits hears of it: what was listed is not believed any more.
                self.strays.all().end();
                state.down = Some(why.clone());
            }
            std::mem::take(&mut state.waiting)
        };
        for (_, waiting) in waiting {
            let _ = waiting.answer.send(Err(self.strays.noted_on(why.fault())));
        }
        self.outgoing.abandon();
    }

    /// A request came to nothing before the upstream could answer it.
    pub(crate) fn fail(&self, number: u64, fault: Fault, connection: Connection) {
        let waiting = self.lock().waiting.remove(&number);
        if connection == Connection::Gone {
            self.go_down(&Down::Lost);
        }
        if let Some(waiting) = waiting {
            let _ = waiting.answer.send(Err(fault));
        }
    }

    /// Takes one message from the upstream.
    pub(crate) fn take(self: &Arc<Self>, bytes: &Bytes) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        match Letter::new(bytes.clone()).read(&Limits::default()) {
            Incoming::One(Ok(Message::Response(response))) => self.answered(&response),
            Incoming::One(Ok(Message::Notification(notice))) => self.noticed(&notice),
            Incoming::One(Ok(Message::Request(request))) => self.asked(&request),
            Incoming::One(Err(misread)) if misread.about == About::Answer => {
                self.garbled(misread.id.as_ref(), bytes, garbled(bytes));
            }
            // Neither a call nor an answer, but under the id of a request.
            Incoming::One(Err(misread))
                if misread.about == About::Unknown && self.awaits(misread.id.as_ref()) =>
            {
                self.garbled(misread.id.as_ref(), bytes, garbled(bytes));
            }
            Incoming::One(Err(_)) => {
                // A stray line, such as something printed by mistake: skipped and counted.
                self.strays.add(bytes);
            }
            Incoming::Batch(messages) => {
                for response in messages.iter().flatten() {
                    if let Message::Response(response) = response {
                        self.answered(response);
                    }
                }
            }
        }
    }

    fn answered(&self, response: &Response<'_>) {
        let number = response.id.as_u64();
        let waiting = number.and_then(|number| self.lock().waiting.remove(&number));
        match waiting {
            Some(Waiting { answer, relay: Some(relay), noticed: true }) => {
                self.pass_on(Notice::Answer(relay.cx, answer, Said::of(response)));
            }
            Some(waiting) => {
                let _ = waiting.answer.send(Said::of(response));
            }
            // An answer that came too late is nobody's concern; one to a question never asked is nonsense.
            None if number.is_some_and(|number| number < self.next.load(Ordering::Relaxed)) => {}
            None => self.garbled(None, response.text().as_bytes(), garbled(response.text().as_bytes())),
        }
    }

    /// Takes the start of a message that is longer than allowed: of an answer, as far as can be seen.
    pub(crate) fn take_start(&self, start: &[u8], limit: usize) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        let head = start.get(..NAMED_BY).unwrap_or(start);
        let calls = head.windows(METHOD.len()).any(|window| window == METHOD);
        if start.trim_ascii_start().starts_with(b"{") && !calls {
            self.garbled(id_in_start(start).as_ref(), start, garbled(start).fact("limit", limit));
        } else {
            self.strays.add(start);
        }
    }

    fn awaits(&self, id: Option<&Id>) -> bool {
        id.and_then(Id::as_u64).is_some_and(|number| self.lock().waiting.contains_key(&number))
    }

    /// An answer nobody can read: for the request it names, or for the only one that waits.
    fn garbled(&self, id: Option<&Id>, bytes: &[u8], fault: Fault) {
        let waiting = {
            let mut state = self.lock();
            let named = id.and_then(Id::as_u64);
            let mut wanted = state.waiting.iter().filter(|(_, waiting)| !waiting.answer.is_closed());
            let only = match (wanted.next(), wanted.next()) {
                (Some((number, _)), None) => Some(*number),
                _ => None,
            };
            named.or(only).and_then(|number| state.waiting.remove(&number))
        };
        self.strays.add(bytes);
        if let Some(waiting) = waiting {
            let _ = waiting.answer.send(Err(fault));
        }
    }

    fn noticed(&self, notice: &Notification<'_>) {
        let params = notice.params.map_or_else(Json::empty_object, Raw::to_json);
        match &*notice.method {
            "notifications/progress" => {
                let number = notice.param("progressToken").and_then(Raw::as_u64);
                let relay = number.and_then(|number| {
                    let mut state = self.lock();
                    let waiting = state.waiting.get_mut(&number)?;
                    waiting.noticed = true;
                    waiting.relay.clone()
                });
                if let Some(relay) = relay {
                    self.pass_on(Notice::Client(ForClient::Progress(relay.cx, params)));
                }
            }
            "notifications/message" => {
                self.lock().waiting.values_mut().for_each(|waiting| waiting.noticed = true);
                if let Some(relay) = Relay::of_one_client(self.relays()) {
                    self.pass_on(Notice::Client(ForClient::Log(relay.cx, params)));
                }
            }
            method => {
                if let Some(notice) = Notice::of_change(method, &params) {
                    self.pass_on(notice);
                }
            }
        }
    }

    /// Notices are passed on beside the connection, so that a slow client does not hold up the others.
    fn pass_on(&self, notice: Notice) {
        // A full queue loses notices, never an answer.
        if let Err(
            TrySendError::Full(notice @ Notice::Answer(..))
            | TrySendError::Closed(notice @ Notice::Answer(..)),
        ) = self.notices.try_send(notice)
        {
            notice.hand_over();
        }
    }

    fn relays(&self) -> Vec<Relay> {
        self.lock().waiting.values().filter_map(|waiting| waiting.relay.clone()).collect()
    }

    /// The upstream asks something: `ping` is answered here, the rest by the client whose call is running, or whose this
    /// connection is.
    fn asked(self: &Arc<Self>, request: &Request<'_>) {
        if request.method == "ping" {
            return self.reply(&request.id, "{}");
        }
        let relay = Relay::of_one_client(self.relays()).or_else(|| self.patrons.owner(&request.method));
        self.patrons.asks(&request.method, relay.as_ref());
        let params = request.params.map_or_else(Json::empty_object, Raw::to_json);
        let method = request.method.clone().into_owned();
        // With several callers at once nobody can say whose question it is, so nobody is asked.
        match relay {
            Some(relay) => {
                let link = Link::Child(self.clone());
                let question = Notice::Question { link, id: request.id.clone(), method, params, relay };
                if self.notices.try_send(question).is_err() {
                    self.decline(&request.id, -32603, "too many questions");
                }
            }
            None => self.decline(&request.id, -32601, "no client can answer this now"),
        }
    }

    /// Answers the upstream.
    pub(crate) fn reply(&self, id: &Id, result: &str) {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.text());
        self.outgoing.push_now(on_one_line(frame));
    }

    /// Declines a question of the upstream.
    pub(crate) fn decline(&self, id: &Id, code: i32, message: &'static str) {
        let id = id.text();
        let error = json!({"code": code, "message": message});
        self.outgoing.push_now(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
    }
}

/// The notice that an answer is no longer wanted.
fn calling_off(number: u64) -> String {
    let params = json!({"requestId": number, "reason": "no longer wanted"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
}

/// A request that has not left. Dropped, nobody waits for its answer.
struct Unsent<'a> {
    line: &'a Line,
    number: Option<u64>,
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.line.forget(number);
        }
    }
}

/// The fault for an answer nobody can read.
pub(crate) fn garbled(bytes: &[u8]) -> Fault {
    let kept = bytes.get(..4_096).unwrap_or(bytes);
    Fault::new(&reason::GATEWAY_UPSTREAM_GARBLED).with_effect(Effect::Unknown).capture("answer", kept)
}
