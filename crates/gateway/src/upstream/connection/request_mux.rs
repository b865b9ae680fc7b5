//! Multiplexes concurrent requests over one message stream in each direction.

mod incoming;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use failwell_fault::{Fault, OrFault, reason};
use failwell_pipeline::{FrameRetention, Stream};
use failwell_rpc::{Id, on_one_line};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::upstream::client::ClientRelay;
use crate::upstream::client::event::UpstreamEvent;
use crate::upstream::client::session_users::SessionUsers;
use crate::upstream::connection::channel::{EncodedRequest, PendingResponse};
use crate::upstream::connection::close_reason::CloseReason;
use crate::upstream::connection::liveness::{LaterCalls, Liveness};
use crate::upstream::counters::{StrayLines, UpstreamCounters};
use crate::upstream::response::UpstreamResponse;

/// The most pending requests of one connection.
pub(crate) const MOST_WAITING: usize = 4_096;
/// The most queued events of one connection.
pub(crate) const MOST_EVENTS: usize = 256;

#[derive(Debug)]
pub(crate) struct RequestMux {
    next: AtomicU64,
    state: Mutex<MuxState>,
    outgoing: Arc<Stream>,
    events: mpsc::Sender<UpstreamEvent>,
    strays: StrayLines,
    pub(crate) users: Arc<SessionUsers>,
    /// The number of messages and stray lines received.
    received: AtomicU64,
    is_checking: AtomicBool,
    /// A [`Liveness`], read by every call.
    liveness: AtomicU8,
    checked: Notify,
    /// Whether the handshake is complete.
    established: AtomicBool,
    /// Written under the lock of `state`, so that no request registers after the others were failed.
    closed: AtomicBool,
}

#[derive(Debug, Default)]
struct MuxState {
    waiting: HashMap<u64, PendingRequest>,
    /// The subscription request of each watched resource.
    watches: HashMap<String, u64>,
}

#[derive(Debug)]
struct PendingRequest {
    answer: ResponseSender,
    relay: Option<ClientRelay>,
    /// Set if notifications for this request may still be queued: the response must not overtake them.
    has_notifications: bool,
}

pub(crate) type ResponseSender = oneshot::Sender<Result<UpstreamResponse, Fault>>;

/// The state of a connection after a failed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionState {
    Usable,
    Closed,
}

impl RequestMux {
    pub(crate) fn new(counters: Arc<UpstreamCounters>) -> (Arc<RequestMux>, mpsc::Receiver<UpstreamEvent>) {
        let (events, received) = mpsc::channel(MOST_EVENTS);
        let mux = RequestMux {
            next: AtomicU64::new(1),
            state: Mutex::default(),
            outgoing: Arc::new(Stream::new(FrameRetention::Nothing)),
            events,
            strays: StrayLines::new(counters),
            users: Arc::default(),
            received: AtomicU64::new(0),
            is_checking: AtomicBool::new(false),
            liveness: AtomicU8::new(Liveness::Answers as u8),
            checked: Notify::new(),
            established: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        };
        (Arc::new(mux), received)
    }

    pub(crate) fn outgoing(&self) -> &Arc<Stream> {
        &self.outgoing
    }

    /// Sends a request. `params` gets the request id, for use as progress token, and the buffer to write to.
    pub(crate) async fn send(
        &self,
        method: &str,
        params: impl FnOnce(u64, &mut String),
        relay: Option<ClientRelay>,
    ) -> Result<PendingResponse, Fault> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.register(number, PendingRequest { answer: sender, relay, has_notifications: false })?;
        let mut unsent = UnsentRequest { mux: self, number: Some(number) };
        let frame = EncodedRequest::new(number, method, |out| params(number, out)).text;
        // A request that was never written had no effect.
        let pushed = self.outgoing.push(on_one_line(frame)).await;
        pushed.map_err(|gone| Fault::new(&reason::GATEWAY_UPSTREAM_DOWN).because(gone))?;
        unsent.number = None;
        let answer = Box::pin(async move { answer.await.or_fault(&reason::GATEWAY_UPSTREAM_DOWN)? });
        Ok(PendingResponse { number, answer })
    }

    fn register(&self, number: u64, waiting: PendingRequest) -> Result<(), Fault> {
        let mut state = self.state.lock();
        if self.is_closed() {
            return Err(Fault::new(&reason::GATEWAY_UPSTREAM_DOWN));
        }
        if state.waiting.len() >= MOST_WAITING {
            return Err(Fault::new(&reason::SERVER_BUSY).fact("limit", MOST_WAITING));
        }
        state.waiting.insert(number, waiting);
        Ok(())
    }

    pub(crate) fn forget(&self, number: u64) {
        self.state.lock().waiting.remove(&number);
    }

    pub(crate) fn cancel(&self, number: u64) {
        self.forget(number);
        self.outgoing.push_now(cancellation(number));
    }

    /// Subscribes to a resource, with one request per resource. The response only marks the end of the subscription.
    pub(crate) async fn watch(self: &Arc<Self>, uri: &str, params: &str) -> Result<(), Fault> {
        let asked = self.send("subscriptions/listen", |_, out| out.push_str(params), None).await?;
        let before = self.state.lock().watches.insert(uri.to_owned(), asked.number);
        self.end_watch(before);
        Ok(())
    }

    pub(crate) fn unwatch(self: &Arc<Self>, uri: &str) {
        let asked = self.state.lock().watches.remove(uri);
        self.end_watch(asked);
    }

    fn end_watch(self: &Arc<Self>, asked: Option<u64>) {
        // The upstream may have ended the subscription already.
        let Some(number) = asked.filter(|number| self.state.lock().waiting.remove(number).is_some()) else {
            return;
        };
        let mux = self.clone();
        // Queued, not dropped when the queue is full: a lost cancellation would leave the subscription open.
        tokio::spawn(async move { mux.outgoing.push(cancellation(number)).await });
    }

    pub(crate) fn notify(&self, notice: String) {
        self.outgoing.push_now(on_one_line(notice));
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.state.lock().waiting.values().any(|waiting| !waiting.answer.is_closed())
    }

    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Returns whether no other liveness check is running.
    pub(crate) fn begin_check(&self, later: LaterCalls) -> bool {
        let begins = !self.is_checking.swap(true, Ordering::AcqRel);
        if begins && later == LaterCalls::Wait {
            self.set_liveness(Liveness::Unsure);
        }
        begins
    }

    pub(crate) fn end_check(&self) {
        self.is_checking.store(false, Ordering::Release);
    }

    pub(crate) fn set_liveness(&self, now: Liveness) {
        self.liveness.store(now as u8, Ordering::Release);
        self.checked.notify_waiters();
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.liveness.load(Ordering::Acquire) == Liveness::Silent as u8
    }

    /// Whether a liveness check is running.
    pub(crate) fn is_unsure(&self) -> bool {
        self.liveness.load(Ordering::Acquire) == Liveness::Unsure as u8
    }

    /// Waits for the end of a liveness check, if one is running.
    pub(crate) async fn checked(&self) {
        loop {
            let ended = self.checked.notified();
            if !self.is_unsure() || self.is_closed() {
                return;
            }
            ended.await;
        }
    }

    /// The handshake is complete: from now on, an end is the end of a server that was up. False if it ended already.
    pub(crate) fn establish(&self) -> bool {
        let _state = self.state.lock();
        self.established.store(true, Ordering::Release);
        !self.is_closed()
    }

    /// Closes the connection and fails all pending requests.
    pub(crate) fn close(&self, why: &CloseReason) {
        let waiting = {
            let mut state = self.state.lock();
            if !self.is_closed() {
                // Counted before `closed` is set: cached lists of the old process are then already invalid.
                self.strays.all().end(why, self.established.load(Ordering::Acquire));
                self.closed.store(true, Ordering::Release);
            }
            std::mem::take(&mut state.waiting)
        };
        self.checked.notify_waiters();
        for (_, waiting) in waiting {
            let _ = waiting.answer.send(Err(self.strays.annotate(why.fault())));
        }
        self.outgoing.abandon();
    }

    /// Fails one request that the upstream did not accept.
    pub(crate) fn fail(&self, number: u64, fault: Fault, connection: ConnectionState) {
        let waiting = self.state.lock().waiting.remove(&number);
        if connection == ConnectionState::Closed {
            self.close(&CloseReason::Lost);
        }
        if let Some(waiting) = waiting {
            let _ = waiting.answer.send(Err(fault));
        }
    }

    pub(crate) fn reply(&self, id: &Id, result: &str) {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.text());
        self.outgoing.push_now(on_one_line(frame));
    }

    pub(crate) fn decline(&self, id: &Id, code: i32, message: &'static str) {
        let id = id.text();
        let error = json!({"code": code, "message": message});
        self.outgoing.push_now(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
    }
}

fn cancellation(number: u64) -> String {
    let params = json!({"requestId": number, "reason": "no longer wanted"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}).to_string()
}

/// Removes the pending request if it is dropped before it was written.
struct UnsentRequest<'a> {
    mux: &'a RequestMux,
    number: Option<u64>,
}

impl Drop for UnsentRequest<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.mux.forget(number);
        }
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
pub(crate) mod order;
