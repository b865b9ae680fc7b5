//! Reading what came back.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Effect, Fault, reason};
use failwell_rpc::{
    About, Era, Incoming, Json, Letter, Limits, Message, Notification, Raw, Request, Response, read,
};
use failwell_transport::{ContentKind, Events, Heard, Unheard, Verb};
use serde_json::Value;

use super::{Peer, faults};
use crate::line::garbled;
use crate::link::Link;
use crate::notice::{ForClient, Notice};
use crate::relay::Relay;
use crate::said::Said;

/// The most bytes of an answer under an error status.
const LARGEST_ERROR: usize = 1024 * 1024;
/// How often a stream that broke off is taken up again.
const MOST_RESUMES: u32 = 8;
/// How long to wait before that when the upstream does not say.
const RESUME: Duration = Duration::from_millis(500);
/// The longest the upstream can make us wait for that.
const LONGEST_RESUME: Duration = Duration::from_secs(30);

/// What servers of the session era say to those they do not know.
const NOT_INTRODUCED: i64 = -32000;
const NO_SUCH_METHOD: i64 = -32601;

impl Peer {
    /// What an exchange comes to.
    pub(super) async fn answer(self: &Arc<Self>, number: u64, heard: Heard) -> Result<Said, Fault> {
        match (heard.status(), heard.content()) {
            (200..=299, ContentKind::Json) => {
                let body = heard.whole(self.largest).await.map_err(|why| self.unheard(why))?;
                self.hear(&body, Some(number)).await?.ok_or_else(|| garbled(&body))
            }
            // Large, so kept apart: what most calls are made of stays small.
            (200..=299, ContentKind::Events) => {
                Box::pin(self.follow(number, heard.events(self.largest))).await
            }
            _ => Box::pin(self.refused(number, heard)).await,
        }
    }

    /// No answer, but whatever else a server says.
    async fn refused(&self, number: u64, heard: Heard) -> Result<Said, Fault> {
        match heard.status() {
            401 | 403 => Err(faults::refused(heard).await),
            429 => Err(faults::busy(heard).await),
            200..=299 => Err(faults::nonsense(heard).await),
            _ => self.failed(number, heard).await,
        }
    }

    /// An error status: with JSON-RPC in it, that is the answer.
    async fn failed(&self, number: u64, heard: Heard) -> Result<Said, Fault> {
        let (status, wait) = (heard.status(), faults::retry_after(&heard));
        let body = heard.whole(self.largest.min(LARGEST_ERROR)).await.unwrap_or_default();
        let said = error_in(number, &body);
        let code = said.as_ref().and_then(Said::code);
        let gone = match self.era() {
            Some(Era::Session) => {
                status == 404 && self.lock().session.is_some() && code != Some(NO_SUCH_METHOD)
            }
            Some(Era::Modern) => matches!(status, 404 | 405) && said.is_none(),
            None => false,
        };
        if gone {
            self.lose();
            // Whoever does not know the session, or the era, did not do what was asked.
            return Err(Fault::new(&reason::GATEWAY_UPSTREAM_DOWN)
                .fact("status", status)
                .capture("answer", body.get(..4_096).unwrap_or(&body)));
        }
        if status == 400 && code == Some(NOT_INTRODUCED) && self.era().is_some() {
            self.lose();
        }
        said.ok_or_else(|| faults::bad_status(status, wait, &body))
    }

    /// Reads a stream until the answer comes, and takes it up again where that is possible.
    async fn follow(self: &Arc<Self>, number: u64, events: Events) -> Result<Said, Fault> {
        let (mut events, mut resumes) = (events, 0);
        loop {
            let ended = match events.next().await {
                Ok(Some(data)) => match self.hear(&data, Some(number)).await? {
                    Some(said) => return Ok(said),
                    None => continue,
                },
                Err(why @ Unheard::TooLarge(_)) => return Err(self.unheard(why)),
                Err(why) => self.unheard(why),
                Ok(None) => garbled(b"").note("stream", "it ended without an answer"),
            };
            let place =
                events.last_id().filter(|_| self.era() == Some(Era::Session) && resumes < MOST_RESUMES);
            let Some(place) = place else { return Err(ended) };
            resumes += 1;
            let wait = events.retry().unwrap_or(RESUME).min(LONGEST_RESUME);
            if events.retry().is_some() {
                self.let_go(number, wait);
            }
            tokio::time::sleep(wait).await;
            let resumed = self.door.say(Verb::Get, self.stream_headers(Some(place)), Bytes::new()).await;
            // The request itself left long ago.
            let heard = resumed.map_err(|why| self.unsaid(why).with_effect(Effect::Unknown))?;
            if heard.status() != 200 || heard.content() != ContentKind::Events {
                return Err(ended);
            }
            events = heard.events(self.largest);
        }
    }

    /// An upstream that hangs up on purpose means the client: it comes back too, where it can.
    fn let_go(&self, number: u64, retry: Duration) {
        for relay in self.relays(Some(number)) {
            relay.cx.pause_stream(retry);
        }
    }

    /// Takes one message from the stream of a request, or from the one that belongs to none.
    pub(super) async fn hear(
        self: &Arc<Self>,
        bytes: &Bytes,
        of: Option<u64>,
    ) -> Result<Option<Said>, Fault> {
        let mut told = Vec::new();
        let said = self.sort(bytes, of, &mut told)?;
        for notice in told {
            match of {
                // In order, so that the answer never overtakes what came before it: only this call waits.
                Some(_) => Box::pin(notice.deliver()).await,
                None => self.pass_on(Notice::Client(notice)),
            }
        }
        Ok(said)
    }

    fn sort(
        self: &Arc<Self>,
        bytes: &Bytes,
        of: Option<u64>,
        told: &mut Vec<ForClient>,
    ) -> Result<Option<Said>, Fault> {
        match Letter::new(bytes.clone()).read(&Limits::default()) {
            Incoming::One(message) => match message {
                Ok(message) => self.take(&message, of, told),
                // Something like a call that nobody can read: an answer may still follow.
                Err(misread) if misread.about == About::Call => Ok(None),
                Err(misread) => Err(garbled(bytes).absorbing(misread.fault)),
            },
            Incoming::Batch(messages) => {
                let mut found = None;
                for message in messages.into_iter().flatten() {
                    found = self.take(&message, of, told)?.or(found);
                }
                Ok(found)
            }
        }
    }

    fn take(
        self: &Arc<Self>,
        message: &Message<'_>,
        of: Option<u64>,
        told: &mut Vec<ForClient>,
    ) -> Result<Option<Said>, Fault> {
        match message {
            Message::Response(response) => answer_to(response, of),
            Message::Notification(notice) => {
                self.noticed(notice, of, told);
                Ok(None)
            }
            Message::Request(request) => {
                self.asked(request, of);
                Ok(None)
            }
        }
    }

    fn noticed(&self, notice: &Notification<'_>, of: Option<u64>, told: &mut Vec<ForClient>) {
        let params = notice.params.map_or_else(Json::empty_object, Raw::to_json);
        match &*notice.method {
            "notifications/progress" => {
                let number = notice.param("progressToken").and_then(Raw::as_u64);
                let relay = number.and_then(|number| self.lock().running.get(&number)?.clone());
                told.extend(relay.map(|relay| ForClient::Progress(relay.cx, params)));
            }
            "notifications/message" => {
                let relay = Relay::of_one_client(self.relays(of));
                told.extend(relay.map(|relay| ForClient::Log(relay.cx, params)));
            }
            method => {
                if let Some(notice) = Notice::of_change(method, &params) {
                    self.pass_on(notice);
                }
            }
        }
    }

    fn pass_on(&self, notice: Notice) {
        let _ = self.notices.try_send(notice);
    }

    /// The client of this request; without one, of all that are running.
    fn relays(&self, of: Option<u64>) -> Vec<Relay> {
        let state = self.lock();
        match of {
            Some(number) => state.running.get(&number).cloned().flatten().into_iter().collect(),
            None => state.running.values().flatten().cloned().collect(),
        }
    }

    /// The upstream asks something: `ping` is answered here, the rest by the client it concerns.
    fn asked(self: &Arc<Self>, request: &Request<'_>, of: Option<u64>) {
        if request.method == "ping" {
            return self.reply(&request.id, "{}");
        }
        // On the stream of no request, a question is only somebody's when a single client's calls are running, or when no
        // other client uses this connection.
        let relay = Relay::of_one_client(self.relays(of)).or_else(|| self.patrons.owner(&request.method));
        self.patrons.asks(&request.method, relay.as_ref());
        let Some(relay) = relay else {
            return self.decline(&request.id, -32601, "no client can answer this now");
        };
        let question = Notice::Question {
            link: Link::Remote(self.clone()),
            id: request.id.clone(),
            method: request.method.clone().into_owned(),
            params: request.params.map_or_else(Json::empty_object, Raw::to_json),
            relay,
        };
        if self.notices.try_send(question).is_err() {
            self.decline(&request.id, -32603, "too many questions");
        }
    }
}

/// On the stream of a request there is one right answer, and every other is nonsense.
fn answer_to(response: &Response<'_>, of: Option<u64>) -> Result<Option<Said>, Fault> {
    match of {
        Some(number) if response.id.as_u64() == Some(number) => Said::of(response).map(Some),
        Some(_) => Err(garbled(response.text().as_bytes()).note("id", "it answers another request")),
        None => Ok(None),
    }
}

/// The JSON-RPC answer under an error status. Servers refuse before they read the id, so errors need none.
fn error_in(number: u64, body: &[u8]) -> Option<Said> {
    if let Incoming::One(Ok(Message::Response(response))) = read(body, &Limits::default())
        && response.id.as_u64() == Some(number)
    {
        return Said::of(&response).ok();
    }
    let whole: Value = serde_json::from_slice(body).ok()?;
    let error = whole.get("error")?;
    let code = error.get("code")?.as_i64()?;
    whole.get("jsonrpc")?;
    Some(Said::Error { code, whole: Json::of(error).ok()? })
}
