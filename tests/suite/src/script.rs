//! An HTTP server whose responses a test defines byte for byte.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a helper of tests may stop at the first surprise"
)]

pub mod cases;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use failwell_gateway::{Endpoint, UpstreamSettings};
use failwell_rpc::Era;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A received request.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// GET, POST or DELETE.
    pub verb: String,
    /// The head in lowercase.
    pub head: String,
    /// The body, if it is JSON.
    pub body: Value,
    /// The body as text.
    pub text: String,
}

impl ReceivedRequest {
    /// The JSON-RPC method.
    pub fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// A header, by its name in lowercase.
    pub fn header(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(prefix.as_str()))
    }
}

/// A response, and what happens to the connection after it.
pub struct ScriptedResponse {
    /// Head and body.
    pub bytes: Vec<u8>,
    /// Afterwards.
    pub then: ConnectionAction,
}

/// What happens to a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ConnectionAction {
    /// Keep the connection for the next request.
    Keep,
    /// Close the connection.
    Close,
    /// Keep the connection open without sending anything.
    Hang,
}

/// A response with a body.
pub fn response(status: u16, headers: &str, body: &str) -> ScriptedResponse {
    let length = body.len();
    let bytes =
        format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n{headers}\r\n{body}").into_bytes();
    ScriptedResponse { bytes, then: ConnectionAction::Keep }
}

/// A response with JSON in it.
pub fn json_response(body: &Value) -> ScriptedResponse {
    response(200, "Content-Type: application/json\r\n", &body.to_string())
}

/// A response of exactly these bytes.
pub fn raw(bytes: &str, then: ConnectionAction) -> ScriptedResponse {
    ScriptedResponse { bytes: bytes.as_bytes().to_vec(), then }
}

type ResponseFn = dyn Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync;

/// A running server.
pub struct Script {
    /// The address it listens on.
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    hung_up: Arc<AtomicUsize>,
    serving: tokio::task::JoinHandle<()>,
}

impl Script {
    /// Serves the responses of `answer`.
    pub async fn new(
        answer: impl Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync + 'static,
    ) -> Script {
        Script::at("127.0.0.1:0".parse().expect("an address"), answer).await
    }

    /// Serves the responses of `answer` at this address.
    pub async fn at(
        address: SocketAddr,
        answer: impl Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync + 'static,
    ) -> Script {
        let listener = TcpListener::bind(address).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (seen, hung_up) = (Arc::new(Mutex::default()), Arc::new(AtomicUsize::new(0)));
        let answer: Arc<ResponseFn> = Arc::new(answer);
        let (seeing, counting) = (seen.clone(), hung_up.clone());
        let serving = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                connections.spawn(converse(socket, answer.clone(), seeing.clone(), counting.clone()));
            }
        });
        Script { address, seen, hung_up, serving }
    }

    /// An upstream of this era with the tool `t`. `answer` defines the responses to calls.
    pub async fn upstream(
        era: Era,
        call: impl Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync + 'static,
    ) -> Script {
        Script::new(move |seen| introduced(era, seen).unwrap_or_else(|| call(seen))).await
    }

    /// This server as an upstream.
    pub fn settings(&self, name: &str) -> UpstreamSettings {
        settings(name, self.address)
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().expect("seen").clone()
    }

    /// The number of requests with this method.
    pub fn count(&self, method: &str) -> usize {
        self.seen().iter().filter(|seen| seen.method() == method).count()
    }

    /// The number of clients that closed the connection while they waited.
    pub fn hung_up(&self) -> usize {
        self.hung_up.load(Ordering::SeqCst)
    }

    /// Stops serving.
    pub fn stop(&self) {
        self.serving.abort();
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A server at this address as an upstream.
pub fn settings(name: &str, address: SocketAddr) -> UpstreamSettings {
    let headers = vec![("Authorization".to_owned(), failwell_fault::Secret::new("Bearer s3cret".to_owned()))];
    let reach = Endpoint::Http { url: format!("http://{address}/mcp"), headers };
    // Both eras, so that a test can choose either.
    let first_era = Some(Era::Modern);
    UpstreamSettings { timeout: Duration::from_secs(20), first_era, ..UpstreamSettings::new(name, reach) }
}

/// The ordinary answers of an upstream of this era; `None` for calls.
pub fn introduced(era: Era, seen: &ReceivedRequest) -> Option<ScriptedResponse> {
    let id = &seen.body["id"];
    let result = |result: Value| json_response(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    Some(match (seen.verb.as_str(), seen.method(), era) {
        ("GET", ..) => response(405, "", ""),
        ("DELETE", ..) => response(200, "", ""),
        (_, "server/discover", Era::Modern) => result(json!({"resultType": "complete",
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"})),
        (_, "server/discover", Era::Session) => {
            json_response(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}))
        }
        (_, "initialize", Era::Session) => {
            let hello = json!({"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}});
            let headers = "Content-Type: application/json\r\nMcp-Session-Id: one\r\n";
            response(200, headers, &hello.to_string())
        }
        (_, "tools/list", _) => {
            let tools: Vec<Value> = ["t", "grüße"]
                .iter()
                .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
                .collect();
            result(json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"}))
        }
        (_, "subscriptions/listen", _) => response(404, "", ""),
        (_, method, _) if method.starts_with("notifications/") => response(202, "", ""),
        _ if seen.body.get("method").is_none() => response(202, "", ""),
        _ => return None,
    })
}

async fn converse(
    mut socket: TcpStream,
    answer: Arc<ResponseFn>,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    hung_up: Arc<AtomicUsize>,
) {
    while let Some(request) = read_request(&mut socket).await {
        seen.lock().expect("seen").push(request.clone());
        let response = answer(&request);
        if socket.write_all(&response.bytes).await.is_err() {
            return;
        }
        match response.then {
            ConnectionAction::Keep => {}
            ConnectionAction::Close => return,
            ConnectionAction::Hang => {
                while !matches!(socket.read(&mut [0; 64]).await, Ok(0) | Err(_)) {}
                hung_up.fetch_add(1, Ordering::SeqCst);
                return;
            }
        }
    }
}

/// The next request; `None` when there is none.
pub async fn read_request(socket: &mut TcpStream) -> Option<ReceivedRequest> {
    let (head, body) = read_raw(socket).await?;
    let verb = head.split(' ').next().unwrap_or_default().to_owned();
    let text = String::from_utf8_lossy(&body).into_owned();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(ReceivedRequest { verb, head: head.to_ascii_lowercase(), body, text })
}

/// The head and the body of one request.
pub async fn read_raw(socket: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut chunk = [0u8; 4096];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        match socket.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length = head.to_ascii_lowercase();
    let length = length.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    while bytes.len() < end + length {
        match socket.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
    Some((head, bytes[end..end + length].to_vec()))
}
