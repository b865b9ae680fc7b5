//! A response follows the notifications of its own call, also when the event queue is full.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use failwell_fault::{Fault, Ref, reason};
use failwell_rpc::{Caller, Json, Revision};
use failwell_toolbox::{
    Answers, Client, Context, Event, ExtraParams, PortFuture, Question, RequestInfo, RequestPort, SessionInfo,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{MOST_EVENTS, RequestMux};
use crate::upstream::client::ClientRelay;
use crate::upstream::client::event::forward_events;

/// A client that only collects its notifications.
#[derive(Debug)]
struct Inbox(Arc<Mutex<Vec<String>>>);

impl RequestPort for Inbox {
    fn notify(&self, frame: String) -> PortFuture<'_, ()> {
        self.0.lock().expect("inbox").push(frame);
        Box::pin(async {})
    }

    fn ask<'a>(&'a self, _: &'a [(&'a str, Question)]) -> PortFuture<'a, Result<Answers, Fault>> {
        Box::pin(async { Err(Fault::new(&reason::MCP_CLIENT_REFUSED)) })
    }

    fn become_task(&self, _: &RequestInfo) -> Result<(), Fault> {
        Err(Fault::new(&reason::MCP_CLIENT_REFUSED))
    }

    fn is_task(&self) -> bool {
        false
    }

    fn touch_task(&self, _: &str) {}

    fn set_task_status(&self, _: String) {}

    fn announce(&self, _: Event) {}

    fn report(&self, _: &RequestInfo, _: Fault) {}

    fn is_watched(&self) -> bool {
        false
    }

    fn show_progress<'a>(&'a self, _: &'a RequestInfo, _: &'a Value) -> PortFuture<'a, ()> {
        Box::pin(async {})
    }

    fn pause_stream(&self, _: Duration) {}

    fn shares_stream_with(&self, _: &dyn RequestPort) -> bool {
        true
    }

    fn session(&self) -> Option<SessionInfo<'_>> {
        None
    }

    fn detached(&self, _: &RequestInfo) -> Option<Context> {
        None
    }

    fn round_state(&self, _: &str) -> Vec<(String, Json)> {
        Vec::new()
    }

    fn remember(&self, _: &str, _: Json) {}
}

/// The context of a call without a session.
pub(crate) fn context(caller: Caller, inbox: &Arc<Mutex<Vec<String>>>) -> Context {
    let request = RequestInfo {
        client: Client::new(caller, Revision::LATEST_SESSION, None),
        reference: Ref::fresh(),
        cancel: CancellationToken::new(),
        progress_token: Some(Json::empty_object()),
        log_level: None,
        extra_params: ExtraParams::default(),
        trace: None,
    };
    Context::new(request, Inbox(inbox.clone()))
}

fn receive(mux: &Arc<RequestMux>, text: String) {
    mux.receive(&Bytes::from(text));
}

#[tokio::test]
async fn a_response_follows_its_notifications_through_a_full_queue() {
    let inbox = Arc::default();
    let (mux, events) = RequestMux::new(Arc::default());
    let relay = ClientRelay::direct(&context(Caller::anonymous(), &inbox));
    let sent = mux.send("tools/call", |_, out| out.push_str("{}"), Some(relay)).await;
    let mut pending = sent.expect("sent");
    let number = pending.number;
    let params = format!(r#"{{"progressToken":{number},"progress":1}}"#);
    receive(&mux, format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#));
    for _ in 0..MOST_EVENTS {
        receive(&mux, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned());
    }
    receive(&mux, format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#));
    tokio::task::yield_now().await;
    let early = poll_fn(|turn| Poll::Ready(pending.answer.as_mut().poll(turn).is_ready())).await;
    assert!(!early, "the response came before its notification was delivered");
    tokio::spawn(forward_events(events, |_| {}));
    let answer = tokio::time::timeout(Duration::from_secs(10), pending.answer).await;
    assert!(answer.expect("an answer").is_ok());
    assert_eq!(inbox.lock().expect("inbox").len(), 1, "the notification came first");
}
