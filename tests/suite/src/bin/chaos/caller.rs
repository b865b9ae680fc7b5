//! A caller over HTTP, in one revision of the protocol.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use failwell_rpc::{Era, Revision};
use failwell_suite::client::requests;
use failwell_suite::client::wire::{Response, Wire, request};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::task::JoinHandle;

use crate::verdict::Verdict;

/// The revisions callers speak.
pub(crate) const REVISIONS: [Revision; 4] =
    [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28, Revision::V2025_03_26];

/// A caller, with its session in the session era.
pub(crate) struct Caller {
    pub(crate) name: String,
    pub(crate) revision: Revision,
    address: SocketAddr,
    session: Option<String>,
    next: AtomicU64,
    aside: Arc<Mutex<Vec<u8>>>,
    listening: Option<JoinHandle<()>>,
}

impl Caller {
    pub(crate) async fn open(address: SocketAddr, revision: Revision, name: String) -> Caller {
        let next = AtomicU64::new(0);
        let mut caller =
            Caller { name, revision, address, session: None, next, aside: Arc::default(), listening: None };
        if revision.era() == Era::Session {
            let mut wire = None;
            let hello = caller.post(&mut wire, requests::initialize(revision, "\"hello\"").as_bytes()).await;
            caller.session = hello.header("mcp-session-id").map(str::to_owned);
            assert!(caller.session.is_some(), "a session begins");
            caller.post(&mut wire, requests::INITIALIZED.as_bytes()).await;
            caller.listening =
                Some(tokio::spawn(listen(caller.bytes("GET", b""), address, caller.aside.clone())));
        }
        caller
    }

    /// A unique id.
    pub(crate) fn id(&self) -> String {
        format!("{}-{}", self.name, self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn bytes(&self, verb: &str, body: &[u8]) -> Vec<u8> {
        let mut headers = requests::headers(body, self.revision);
        let mut put = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        if verb == "POST" {
            put("Content-Type", "application/json");
            put("Accept", "application/json, text/event-stream");
        } else {
            put("Accept", "text/event-stream");
        }
        if let Some(session) = &self.session {
            put("Mcp-Session-Id", session);
        }
        request(verb, "/mcp", &self.address.to_string(), &headers, body)
    }

    /// Sends a message and reads the whole response, over the connection given if there is one.
    pub(crate) async fn post(&self, kept: &mut Option<Wire>, body: &[u8]) -> Response {
        let mut wire = match kept.take() {
            Some(wire) => wire,
            None => Wire::connect(self.address).await,
        };
        wire.write(&self.bytes("POST", body)).await;
        let response = wire.response().await;
        let closes = response.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        *kept = (!closes).then_some(wire);
        response
    }

    /// Sends a message, and closes the connection after a while without reading.
    pub(crate) async fn post_and_hang_up(&self, body: &[u8], after: Duration) {
        let mut wire = Wire::connect(self.address).await;
        wire.write(&self.bytes("POST", body)).await;
        tokio::time::sleep(after).await;
    }

    /// The stream that belongs to no request contains no responses and no secrets.
    pub(crate) async fn close(self, verdict: &Verdict) {
        let Some(listening) = self.listening else { return };
        listening.abort();
        let _ = listening.await;
        let messages = self.aside.lock().clone();
        let messages = String::from_utf8_lossy(&messages);
        verdict.no_secrets(&messages);
        for data in messages.lines().filter_map(|line| line.strip_prefix("data:")) {
            let message: Value = serde_json::from_str(data.trim()).unwrap_or_default();
            let answers = message.get("result").is_some() || message.get("error").is_some();
            verdict.check(!answers, || format!("an answer came beside its exchange: {message}"));
        }
    }
}

/// Stores the messages on the stream that belongs to no request.
async fn listen(request: Vec<u8>, address: SocketAddr, aside: Arc<Mutex<Vec<u8>>>) {
    let mut wire = Wire::connect(address).await;
    wire.write(&request).await;
    let mut chunk = [0; 4_096];
    while let Ok(count @ 1..) = wire.stream.read(&mut chunk).await {
        aside.lock().extend_from_slice(&chunk[..count]);
    }
}
