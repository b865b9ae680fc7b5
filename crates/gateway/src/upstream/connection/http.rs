//! The streamable HTTP transport, in either era.
//!
//! Every request is an HTTP exchange of its own: its stream carries only its messages, and closing it cancels the
//! request.

pub(crate) mod faults;
mod header_params;
mod headers;
mod notification_stream;
mod response;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use failwell_connect::{HeadLines, Verb};
use failwell_fault::{Fault, reason};
use failwell_rpc::{Era, Id, Revision};
use failwell_toolbox::{Event, Trace};
use http::header::HeaderValue;
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

pub(crate) use self::header_params::{HeaderParamIndex, header_params};
use crate::upstream::client::ClientRelay;
use crate::upstream::client::event::{UpstreamEvent, forward_events};
use crate::upstream::client::session_users::SessionUsers;
use crate::upstream::connection::channel::{EncodedRequest, PendingResponse};
use crate::upstream::connection::close_reason::CloseReason;
use crate::upstream::connection::endpoint::HttpEndpoint;
use crate::upstream::connection::request_mux::{MOST_EVENTS, MOST_WAITING};
use crate::upstream::connection::token::TokenSource;
use crate::upstream::response::UpstreamResponse;
use crate::upstream::settings::UpstreamSettings;

/// Time limit for messages without a response.
const DELIVERY: Duration = Duration::from_secs(10);
/// Time limit for ending the session.
const FAREWELL: Duration = Duration::from_secs(2);
const MOST_WATCHED: usize = 1_000;

/// A connection over streamable HTTP.
#[derive(Debug)]
pub(crate) struct StreamableHttp {
    endpoint: HttpEndpoint,
    next: AtomicU64,
    revision: OnceLock<Revision>,
    lost: AtomicBool,
    state: Mutex<HttpState>,
    events: mpsc::Sender<UpstreamEvent>,
    watched: watch::Sender<BTreeSet<String>>,
    header_index: Arc<HeaderParamIndex>,
    pub(crate) users: Arc<SessionUsers>,
    largest: usize,
    stop: CancellationToken,
}

#[derive(Debug, Default)]
struct HttpState {
    session: Option<HeaderValue>,
    running: BTreeMap<u64, Option<ClientRelay>>,
}

/// What to record from a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponseCapture {
    /// The session id.
    Session,
    /// The header parameters of tools.
    Tools,
    Nothing,
}

/// Prepares a connection without sending anything. It ends when `stop` is cancelled.
pub(crate) fn connect(
    settings: &UpstreamSettings,
    header_index: Arc<HeaderParamIndex>,
    tokens: Option<Arc<TokenSource>>,
    stop: CancellationToken,
    changed: impl Fn(Event) + Send + 'static,
) -> Result<Arc<StreamableHttp>, Fault> {
    let (events, received) = mpsc::channel(MOST_EVENTS);
    let peer = Arc::new(StreamableHttp {
        endpoint: HttpEndpoint::new(settings, tokens)?,
        next: AtomicU64::new(1),
        revision: OnceLock::new(),
        lost: AtomicBool::new(false),
        state: Mutex::default(),
        events,
        watched: watch::Sender::default(),
        header_index,
        users: Arc::default(),
        largest: settings.largest_message,
        stop,
    });
    tokio::spawn(forward_events(received, changed));
    tokio::spawn(end_session_on_stop(peer.clone()));
    Ok(peer)
}

async fn end_session_on_stop(peer: Arc<StreamableHttp>) {
    peer.stop.cancelled().await;
    if peer.state.lock().session.is_some() && !peer.is_lost() {
        let farewell = peer.endpoint.send(Verb::Delete, peer.session_headers(), Bytes::new());
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    }
}

impl StreamableHttp {
    fn era(&self) -> Option<Era> {
        self.revision.get().map(|revision| revision.era())
    }

    /// Prepares a request, which is sent when its answer is first polled.
    pub(crate) fn send(
        self: &Arc<Self>,
        trace: Option<&Trace>,
        method: &str,
        params: impl FnOnce(u64, &mut String),
        relay: Option<ClientRelay>,
    ) -> PendingResponse {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let capture = match method {
            "initialize" => ResponseCapture::Session,
            "tools/list" => ResponseCapture::Tools,
            _ => ResponseCapture::Nothing,
        };
        let encoded = EncodedRequest::new(number, method, |out| params(number, out));
        let mut headers = self.headers_for(method, encoded.params());
        if let Some(trace) = trace {
            headers::join(&mut headers, trace);
        }
        let body = encoded.text;
        let peer = self.clone();
        let answer = Box::pin(async move {
            let _running = peer.enter(number, relay)?;
            tokio::select! {
                biased;
                () = peer.stop.cancelled() => Err(CloseReason::Stopped.fault()),
                response = peer.exchange(number, headers, body, capture) => response,
            }
        });
        PendingResponse { number, answer }
    }

    fn enter(&self, number: u64, relay: Option<ClientRelay>) -> Result<ActiveExchange<'_>, Fault> {
        let mut state = self.state.lock();
        if state.running.len() >= MOST_WAITING {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WAITING));
        }
        state.running.insert(number, relay);
        Ok(ActiveExchange { peer: self, number })
    }

    async fn exchange(
        self: &Arc<Self>,
        number: u64,
        headers: HeadLines,
        body: String,
        capture: ResponseCapture,
    ) -> Result<UpstreamResponse, Fault> {
        let sent = self.endpoint.send(Verb::Post, headers, Bytes::from(body)).await;
        let response = sent.map_err(|why| self.send_fault(why))?;
        if capture == ResponseCapture::Session {
            let session = response.header("mcp-session-id").and_then(|id| HeaderValue::from_str(id).ok());
            self.state.lock().session = session;
        }
        let answer = self.read_response(number, response).await?;
        if let (ResponseCapture::Tools, Some(Era::Modern), UpstreamResponse::Result(page)) =
            (capture, self.era(), &answer)
        {
            self.header_index.learn(page);
        }
        Ok(answer)
    }

    pub(crate) fn set_revision(&self, revision: Revision) {
        let _ = self.revision.set(revision);
    }

    /// Opens the notification stream.
    pub(crate) fn listen(self: &Arc<Self>) {
        tokio::spawn(notification_stream::listen(self.clone()));
    }

    /// Whether the session is lost, so that a new handshake is needed.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    fn mark_lost(&self) {
        self.lost.store(true, Ordering::Release);
    }

    pub(crate) fn is_busy(&self) -> bool {
        !self.state.lock().running.is_empty()
    }

    /// Cancels a request. In the modern era, closing the exchange has done so already.
    pub(crate) fn cancel(self: &Arc<Self>, number: u64) {
        if self.era() == Some(Era::Session) {
            let params = json!({"requestId": number, "reason": "no longer wanted"});
            let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            self.post(notice.to_string());
        }
    }

    pub(crate) fn watch(&self, uri: &str) -> Result<(), Fault> {
        if self.watched.borrow().len() >= MOST_WATCHED {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WATCHED));
        }
        self.watched.send_if_modified(|watched| watched.insert(uri.to_owned()));
        Ok(())
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.watched.send_if_modified(|watched| watched.remove(uri));
    }

    pub(crate) fn has_session(&self) -> bool {
        self.state.lock().session.is_some()
    }

    pub(crate) fn reply(self: &Arc<Self>, id: &Id, result: &str) {
        self.post(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.text()));
    }

    pub(crate) fn decline(self: &Arc<Self>, id: &Id, code: i32, message: &'static str) {
        let error = json!({"code": code, "message": message});
        self.post(format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.text()));
    }

    /// Sends a message in the background. Modern upstreams accept only requests.
    fn post(self: &Arc<Self>, message: String) {
        if self.era() == Some(Era::Session) {
            let peer = self.clone();
            tokio::spawn(async move { peer.deliver(message).await });
        }
    }

    pub(crate) async fn deliver(&self, message: String) {
        let sending = async {
            let sent = self.endpoint.send(Verb::Post, self.session_headers(), Bytes::from(message)).await;
            if let Ok(response) = sent {
                // Read to the end, so that the connection can be reused.
                let _ = response.whole(self.largest).await;
            }
        };
        let _ = tokio::time::timeout(DELIVERY, sending).await;
    }
}

/// Registers a pending request until it is dropped.
struct ActiveExchange<'a> {
    peer: &'a StreamableHttp,
    number: u64,
}

impl Drop for ActiveExchange<'_> {
    fn drop(&mut self) {
        self.peer.state.lock().running.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, CancellationToken, connect};
    use crate::upstream::settings::{Endpoint, UpstreamSettings};

    /// The largest allocation that the allocator serves from a thread-local cache.
    const OWN: usize = 1_032;

    #[tokio::test]
    async fn a_call_is_made_of_little() {
        let endpoint = Endpoint::Http { url: "http://127.0.0.1:9/mcp".to_owned(), headers: Vec::new() };
        let settings = UpstreamSettings::new("up", endpoint);
        let peer =
            connect(&settings, Arc::default(), None, CancellationToken::new(), |_| {}).expect("a peer");
        let pending = peer.send(None, "tools/call", |_, out| out.push_str("{}"), None);
        assert!(size_of_val(&*pending.answer) <= OWN, "{} bytes", size_of_val(&*pending.answer));
    }
}
