//! The HTTP+SSE transport of 2024-11-05: the upstream sends all messages on one event stream, and its first event
//! names the URL to post to.
//! <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use failwell_connect::{ContentKind, EventStream, HeadLines, HttpResponse, SendError, Verb};
use failwell_fault::{Effect, Fact, Fault, reason};
use failwell_pipeline::StreamRead;
use failwell_rpc::{Incoming, Limits, Message, read};
use failwell_toolbox::Event;
use http::header::{ACCEPT, CONTENT_TYPE};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::upstream::client::event::forward_events;
use crate::upstream::connection::close_reason::CloseReason;
use crate::upstream::connection::endpoint::{HttpEndpoint, UpstreamSendError};
use crate::upstream::connection::http::faults;
use crate::upstream::connection::request_mux::{ConnectionState, RequestMux};
use crate::upstream::connection::token::TokenSource;
use crate::upstream::counters::UpstreamCounters;
use crate::upstream::response::invalid_response;
use crate::upstream::settings::UpstreamSettings;

/// Time limit for the `endpoint` event.
const ENDPOINT: Duration = Duration::from_secs(10);
const LONGEST_ENDPOINT: usize = 8 * 1024;
/// Time limit for posting a message.
const DELIVERY: Duration = Duration::from_secs(10);
const MOST_POSTS: usize = 64;
const LARGEST_RECEIPT: usize = 64 * 1024;

/// Whether this fault suggests an HTTP+SSE server, which rejects `POST` at this URL.
pub(crate) fn may_be_spoken_after(fault: &Fault) -> bool {
    matches!(fault.get("status"), Some(Fact::Unsigned(400 | 404 | 405)))
}

/// Opens the stream and waits for the URL to post to. The connection ends when `stop` is cancelled.
pub(crate) async fn start(
    settings: &UpstreamSettings,
    tokens: Option<Arc<TokenSource>>,
    counters: Arc<UpstreamCounters>,
    stop: CancellationToken,
    changed: impl Fn(Event) + Send + 'static,
) -> Result<Arc<RequestMux>, Fault> {
    let endpoint = HttpEndpoint::new(settings, tokens)?;
    let headers = HeadLines::new().with(ACCEPT.as_str(), "text/event-stream");
    let response = endpoint.send(Verb::Get, headers, Bytes::new()).await.map_err(|why| send_fault(why).0)?;
    let mut events = match (response.status(), response.content()) {
        (200, ContentKind::EventStream) => response.events(settings.largest_message),
        (401 | 403, _) => return Err(faults::refused(response).await),
        (429, _) => return Err(faults::busy(response).await),
        (status, _) => return Err(faults::bad_status(status, None, &response.excerpt(4_096).await)),
    };
    let message_url = read_message_url(&mut events).await?;
    // A redirect to another server would leak credentials and arguments.
    let posts = endpoint.sibling(&message_url).ok_or_else(|| {
        invalid_response(message_url.as_bytes())
            .note("endpoint", "the address to post to is on another server")
    })?;
    let (mux, notices) = RequestMux::new(counters);
    tokio::spawn(forward_events(notices, changed));
    tokio::spawn(run(mux.clone(), events, Arc::new(posts), stop));
    Ok(mux)
}

async fn read_message_url(events: &mut EventStream) -> Result<String, Fault> {
    let none = |why: &'static str| invalid_response(b"").note("endpoint", why);
    let named = tokio::time::timeout(ENDPOINT, events.next_named("endpoint")).await;
    let named = named.map_err(|_| none("it does not say where to post to"))?;
    let named = named.map_err(|why| send_fault(UpstreamSendError::Transport(why)).0)?;
    let named = named.ok_or_else(|| none("the stream ended before it said where to post to"))?;
    let text = std::str::from_utf8(&named).ok().map(str::trim).filter(|text| text.len() <= LONGEST_ENDPOINT);
    text.map(str::to_owned).ok_or_else(|| none("the address to post to cannot be read"))
}

/// Transfers messages in both directions until the stream ends.
async fn run(
    mux: Arc<RequestMux>,
    mut events: EventStream,
    posts: Arc<HttpEndpoint>,
    stop: CancellationToken,
) {
    let down = tokio::select! {
        () = stop.cancelled() => CloseReason::Stopped,
        () = receive_all(&mux, &mut events) => CloseReason::Lost,
        () = post_messages(&mux, &posts) => CloseReason::Lost,
    };
    mux.close(&down);
}

async fn receive_all(mux: &Arc<RequestMux>, events: &mut EventStream) {
    while let Ok(Some(message)) = events.next().await {
        mux.receive(&message);
    }
}

/// Posts messages. Requests are posted concurrently. Notifications keep their order, because `initialized` must
/// precede the first request.
async fn post_messages(mux: &Arc<RequestMux>, posts: &Arc<HttpEndpoint>) {
    let mut running = JoinSet::new();
    let mut last = 0;
    loop {
        let frame = match mux.outgoing().next(last).await {
            StreamRead::End => return,
            StreamRead::Pause(_) => continue,
            StreamRead::Frame(frame) => frame,
        };
        last = frame.number;
        while running.len() >= MOST_POSTS {
            running.join_next().await;
        }
        while running.try_join_next().is_some() {}
        let number = match read(&frame.bytes, &Limits::default()) {
            Incoming::One(Ok(Message::Request(request))) => request.id.as_u64(),
            Incoming::One(Ok(Message::Notification(_))) => {
                post(mux, posts, frame.bytes, None).await;
                continue;
            }
            _ => None,
        };
        let (mux, posts) = (mux.clone(), posts.clone());
        running.spawn(async move { post(&mux, &posts, frame.bytes, number).await });
    }
}

/// Posts one message. A rejected request fails with the reason.
async fn post(mux: &RequestMux, posts: &HttpEndpoint, message: Bytes, number: Option<u64>) {
    let headers = HeadLines::new()
        .with(CONTENT_TYPE.as_str(), "application/json")
        .with(ACCEPT.as_str(), "application/json");
    // The response arrives on the stream, so a slow acknowledgement is no failure.
    let Ok(sent) = tokio::time::timeout(DELIVERY, posts.send(Verb::Post, headers, message)).await else {
        return;
    };
    let (fault, connection) = match sent {
        Ok(response) if (200..300).contains(&response.status()) => {
            // Read to the end, so that the connection can be reused.
            let _ = tokio::time::timeout(DELIVERY, response.whole(LARGEST_RECEIPT)).await;
            return;
        }
        Ok(response) => refused(response).await,
        Err(why) => send_fault(why),
    };
    match (number, connection) {
        (Some(number), connection) => mux.fail(number, fault, connection),
        (None, ConnectionState::Closed) => mux.close(&CloseReason::Lost),
        (None, ConnectionState::Usable) => {}
    }
}

async fn refused(response: HttpResponse) -> (Fault, ConnectionState) {
    match response.status() {
        401 | 403 => (faults::refused(response).await, ConnectionState::Usable),
        429 => (faults::busy(response).await, ConnectionState::Usable),
        // An unknown session means that the request had no effect.
        404 | 410 => (faults::refused(response).await, ConnectionState::Closed),
        status => {
            let wait = faults::retry_after(&response);
            (faults::bad_status(status, wait, &response.excerpt(4_096).await), ConnectionState::Usable)
        }
    }
}

fn send_fault(why: UpstreamSendError) -> (Fault, ConnectionState) {
    let down = Fault::new(&reason::GATEWAY_UPSTREAM_DOWN);
    match why {
        UpstreamSendError::NoToken(fault) => (fault, ConnectionState::Usable),
        UpstreamSendError::Transport(why @ SendError::NotSent(_)) => {
            (down.because(why), ConnectionState::Closed)
        }
        UpstreamSendError::Transport(why) => {
            (down.with_effect(Effect::Unknown).because(why), ConnectionState::Usable)
        }
    }
}
