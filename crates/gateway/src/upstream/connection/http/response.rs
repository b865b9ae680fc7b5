//! Reads HTTP responses: JSON, event streams and error statuses.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_backoff::Backoff;
use failwell_connect::{ContentKind, EventStream, HttpResponse, SendError, Verb};
use failwell_fault::{Effect, Fault, reason};
use failwell_rpc::{
    Era, Incoming, Json, Limits, Message, MessageBuf, MessageKind, Notification, Raw, Request, Response, read,
};
use serde_json::Value;

use super::{StreamableHttp, faults};
use crate::upstream::client::ClientRelay;
use crate::upstream::client::event::{ClientNotification, UpstreamEvent};
use crate::upstream::connection::channel::Channel;
use crate::upstream::response::{UpstreamResponse, invalid_response};

const LARGEST_ERROR: usize = 1024 * 1024;
/// How often a broken stream is resumed.
const MOST_RESUMES: u32 = 8;
/// The delay before that if the upstream states none.
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(5));
/// The longest delay that an upstream can ask for.
const LONGEST_RESUME: Duration = Duration::from_secs(30);

/// The error code of session-era servers for an unknown session.
const NOT_INTRODUCED: i64 = -32000;
const NO_SUCH_METHOD: i64 = -32601;

impl StreamableHttp {
    pub(super) async fn read_response(
        self: &Arc<Self>,
        number: u64,
        response: HttpResponse,
    ) -> Result<UpstreamResponse, Fault> {
        match (response.status(), response.content()) {
            (200..=299, ContentKind::Json) => {
                let body = response.whole(self.largest).await.map_err(|why| self.transport_fault(why))?;
                self.receive(&body, Some(number)).await?.ok_or_else(|| invalid_response(&body))
            }
            // Boxed: the future of a call with a JSON response stays small.
            (200..=299, ContentKind::EventStream) => {
                Box::pin(self.read_stream(number, response.events(self.largest))).await
            }
            _ => Box::pin(self.refused(number, response)).await,
        }
    }

    /// Handles every status and content type other than a normal response.
    async fn refused(&self, number: u64, response: HttpResponse) -> Result<UpstreamResponse, Fault> {
        match response.status() {
            401 | 403 => Err(faults::refused(response).await),
            429 => Err(faults::busy(response).await),
            200..=299 => Err(faults::unexpected_body(response).await),
            _ => self.failed(number, response).await,
        }
    }

    /// Handles an error status. A JSON-RPC body is the response.
    async fn failed(&self, number: u64, response: HttpResponse) -> Result<UpstreamResponse, Fault> {
        let (status, wait) = (response.status(), faults::retry_after(&response));
        let body = response.whole(self.largest.min(LARGEST_ERROR)).await.unwrap_or_default();
        let error = error_in(number, &body);
        let code = error.as_ref().and_then(UpstreamResponse::code);
        let gone = match self.era() {
            Some(Era::Session) => {
                status == 404 && self.state.lock().session.is_some() && code != Some(NO_SUCH_METHOD)
            }
            Some(Era::Modern) => matches!(status, 404 | 405) && error.is_none(),
            None => false,
        };
        if gone {
            self.mark_lost();
            // The request was rejected for its session or era, so it had no effect.
            return Err(Fault::new(&reason::GATEWAY_UPSTREAM_DOWN)
                .fact("status", status)
                .capture("answer", body.get(..4_096).unwrap_or(&body)));
        }
        if status == 400 && code == Some(NOT_INTRODUCED) && self.era().is_some() {
            self.mark_lost();
        }
        error.ok_or_else(|| faults::bad_status(status, wait, &body))
    }

    /// Reads a stream until the response arrives, and resumes it if it breaks.
    async fn read_stream(
        self: &Arc<Self>,
        number: u64,
        events: EventStream,
    ) -> Result<UpstreamResponse, Fault> {
        let (mut events, mut resumes) = (events, 0);
        loop {
            let ended = match events.next().await {
                Ok(Some(data)) => match self.receive(&data, Some(number)).await? {
                    Some(found) => return Ok(found),
                    None => continue,
                },
                Err(why @ SendError::TooLarge(_)) => return Err(self.transport_fault(why)),
                Err(why) => self.transport_fault(why),
                Ok(None) => invalid_response(b"").note("stream", "it ended without an answer"),
            };
            let place =
                events.last_id().filter(|_| self.era() == Some(Era::Session) && resumes < MOST_RESUMES);
            let Some(place) = place else { return Err(ended) };
            resumes += 1;
            let asked = events.retry().map(|asked| asked.min(LONGEST_RESUME));
            if let Some(asked) = asked {
                self.pause_client(number, asked);
            }
            let wait = asked.unwrap_or_else(|| BACKOFF.delay(resumes));
            tokio::time::sleep(wait).await;
            let resumed = self.endpoint.send(Verb::Get, self.stream_headers(Some(place)), Bytes::new()).await;
            // The original request was sent, so its effect is unknown.
            let response = resumed.map_err(|why| self.send_fault(why).with_effect(Effect::Unknown))?;
            if response.status() != 200 || response.content() != ContentKind::EventStream {
                return Err(ended);
            }
            events = response.events(self.largest);
        }
    }

    /// An upstream that closes the stream with a retry time asks its client to reconnect: so does the gateway.
    fn pause_client(&self, number: u64, retry: Duration) {
        for relay in self.relays(Some(number)) {
            relay.cx.pause_stream(retry);
        }
    }

    /// Handles one message of the stream of a request, or of the notification stream (`None`).
    pub(super) async fn receive(
        self: &Arc<Self>,
        bytes: &Bytes,
        of: Option<u64>,
    ) -> Result<Option<UpstreamResponse>, Fault> {
        let mut notifications = Vec::new();
        let found = self.handle_messages(bytes, of, &mut notifications)?;
        for notice in notifications {
            match of {
                // Delivered in order, so that the response never overtakes a notification.
                Some(_) => Box::pin(notice.deliver()).await,
                None => self.forward(UpstreamEvent::Client(notice)),
            }
        }
        Ok(found)
    }

    fn handle_messages(
        self: &Arc<Self>,
        bytes: &Bytes,
        of: Option<u64>,
        notifications: &mut Vec<ClientNotification>,
    ) -> Result<Option<UpstreamResponse>, Fault> {
        match MessageBuf::scan(bytes.clone(), &Limits::default()).read() {
            Incoming::One(message) => match message {
                Ok(message) => self.handle_message(&message, of, notifications),
                // A malformed request or notification: the response may still follow.
                Err(unreadable) if unreadable.about == MessageKind::Call => Ok(None),
                Err(unreadable) => Err(invalid_response(bytes).absorbing(unreadable.fault)),
            },
            Incoming::Batch(messages) => {
                let mut found = None;
                for message in messages.into_iter().flatten() {
                    found = self.handle_message(&message, of, notifications)?.or(found);
                }
                Ok(found)
            }
        }
    }

    fn handle_message(
        self: &Arc<Self>,
        message: &Message<'_>,
        of: Option<u64>,
        notifications: &mut Vec<ClientNotification>,
    ) -> Result<Option<UpstreamResponse>, Fault> {
        match message {
            Message::Response(response) => answer_to(response, of),
            Message::Notification(notice) => {
                self.handle_notification(notice, of, notifications);
                Ok(None)
            }
            Message::Request(request) => {
                self.handle_request(request, of);
                Ok(None)
            }
        }
    }

    fn handle_notification(
        &self,
        notice: &Notification<'_>,
        of: Option<u64>,
        notifications: &mut Vec<ClientNotification>,
    ) {
        let params = notice.params.map_or_else(Json::empty_object, Raw::to_json);
        match &*notice.method {
            "notifications/progress" => {
                let number = notice.param("progressToken").and_then(Raw::as_u64);
                let relay = number.and_then(|number| self.state.lock().running.get(&number)?.clone());
                notifications.extend(relay.map(|relay| ClientNotification::Progress(relay.cx, params)));
            }
            "notifications/message" => {
                let relay = ClientRelay::for_only_client(self.relays(of));
                notifications.extend(relay.map(|relay| ClientNotification::Log(relay.cx, params)));
            }
            method => {
                if let Some(notice) = UpstreamEvent::parse_change(method, &params) {
                    self.forward(notice);
                }
            }
        }
    }

    fn forward(&self, notice: UpstreamEvent) {
        let _ = self.events.try_send(notice);
    }

    /// The client of one request, or the clients of all pending ones.
    fn relays(&self, of: Option<u64>) -> Vec<ClientRelay> {
        let state = self.state.lock();
        match of {
            Some(number) => state.running.get(&number).cloned().flatten().into_iter().collect(),
            None => state.running.values().flatten().cloned().collect(),
        }
    }

    /// Answers `ping`, and forwards other requests to the client they concern.
    fn handle_request(self: &Arc<Self>, request: &Request<'_>, of: Option<u64>) {
        if request.method == "ping" {
            return self.reply(&request.id, "{}");
        }
        // On the notification stream, a request is attributed only if all pending calls belong to one client, or if
        // one client owns the connection.
        let relay =
            ClientRelay::for_only_client(self.relays(of)).or_else(|| self.users.owner(&request.method));
        self.users.note_question(&request.method, relay.as_ref());
        let Some(relay) = relay else {
            return self.decline(&request.id, -32601, "no client can answer this now");
        };
        let question = UpstreamEvent::Question {
            channel: Channel::Http(self.clone()),
            id: request.id.clone(),
            method: request.method.clone().into_owned(),
            params: request.params.map_or_else(Json::empty_object, Raw::to_json),
            relay,
        };
        if self.events.try_send(question).is_err() {
            self.decline(&request.id, -32603, "too many questions");
        }
    }
}

/// The stream of a request may carry only the response to that request.
fn answer_to(response: &Response<'_>, of: Option<u64>) -> Result<Option<UpstreamResponse>, Fault> {
    match of {
        Some(number) if response.id.as_u64() == Some(number) => UpstreamResponse::parse(response).map(Some),
        Some(_) => Err(invalid_response(response.text().as_bytes()).note("id", "it answers another request")),
        None => Ok(None),
    }
}

/// The JSON-RPC error in an error response. Servers may reject a request before they parse its id.
fn error_in(number: u64, body: &[u8]) -> Option<UpstreamResponse> {
    if let Incoming::One(Ok(Message::Response(response))) = read(body, &Limits::default())
        && response.id.as_u64() == Some(number)
    {
        return UpstreamResponse::parse(&response).ok();
    }
    let whole: Value = serde_json::from_slice(body).ok()?;
    let error = whole.get("error")?;
    let code = error.get("code")?.as_i64()?;
    whole.get("jsonrpc")?;
    Some(UpstreamResponse::Error { code, whole: Json::of(error).ok()? })
}
