//! Upstreams over HTTP+SSE, the transport of 2024-11-05.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use failwell_gateway::{Endpoint, HttpTransport, UpstreamSettings};
use failwell_rpc::Era;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::sync::mpsc;

use super::cells::answering;
use super::peers::{everything, progress, python, serve};
use crate::client::{GatewayClient, failed, text};
use crate::script::read_raw;

/// The behaviour for a posted request.
#[derive(Clone, Copy)]
enum Behavior {
    Answers,
    Nothing,
    EndsTheStream,
    Refuses(u16),
    HangsUp,
}

/// A server of this transport with a given misbehaviour.
struct LegacyServer {
    address: SocketAddr,
    posted: Arc<Mutex<Vec<Value>>>,
    streams: Arc<AtomicUsize>,
}

type Plan = Arc<dyn Fn(&Value, usize) -> Behavior + Send + Sync>;

impl LegacyServer {
    /// `begins` is the first part of the stream. `behavior` gets the number of earlier calls.
    async fn new(
        begins: &str,
        behavior: impl Fn(&Value, usize) -> Behavior + Send + Sync + 'static,
    ) -> LegacyServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (posted, streams) = (Arc::new(Mutex::default()), Arc::new(AtomicUsize::new(0)));
        let stream: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>> = Arc::default();
        let legacy = LegacyServer { address, posted: posted.clone(), streams: streams.clone() };
        let (begins, behavior): (Arc<str>, Plan) = (begins.into(), Arc::new(behavior));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let serving = LegacyConnection {
                    posted: posted.clone(),
                    streams: streams.clone(),
                    stream: stream.clone(),
                    behavior: behavior.clone(),
                };
                tokio::spawn(serving.converse(socket, begins.clone()));
            }
        });
        legacy
    }

    async fn good(behavior: impl Fn(&Value, usize) -> Behavior + Send + Sync + 'static) -> LegacyServer {
        LegacyServer::new("event: endpoint\ndata: /messages?id=1\n\n", behavior).await
    }

    fn settings(&self, wire: HttpTransport) -> UpstreamSettings {
        settings(self.address, wire)
    }

    fn calls(&self) -> usize {
        self.posted.lock().expect("posted").iter().filter(|body| body["method"] == "tools/call").count()
    }

    fn methods(&self) -> Vec<String> {
        let posted = self.posted.lock().expect("posted");
        posted.iter().map(|body| body["method"].as_str().unwrap_or("-").to_owned()).collect()
    }
}

fn settings(address: SocketAddr, wire: HttpTransport) -> UpstreamSettings {
    let reach = Endpoint::Http { url: format!("http://{address}/sse"), headers: Vec::new() };
    let timeout = Duration::from_secs(60);
    UpstreamSettings { transport: wire, timeout, ..UpstreamSettings::new("up", reach) }
}

struct LegacyConnection {
    posted: Arc<Mutex<Vec<Value>>>,
    streams: Arc<AtomicUsize>,
    stream: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>>,
    behavior: Plan,
}

impl LegacyConnection {
    async fn converse(self, mut socket: TcpStream, begins: Arc<str>) {
        while let Some((head, body)) = read_raw(&mut socket).await {
            if head.starts_with("GET /sse ") {
                return self.stream(socket, &begins).await;
            }
            let response = self.respond(&head, &body);
            if response.is_empty() || socket.write_all(response.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    async fn stream(self, mut socket: TcpStream, begins: &str) {
        let (sender, mut events) = mpsc::unbounded_channel::<String>();
        *self.stream.lock().expect("stream") = Some(sender);
        self.streams.fetch_add(1, Ordering::SeqCst);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
        let mut open = socket.write_all(format!("{head}{begins}").as_bytes()).await.is_ok();
        while let (true, Some(event)) = (open, events.recv().await) {
            open = socket.write_all(event.as_bytes()).await.is_ok();
        }
    }

    fn respond(&self, head: &str, body: &[u8]) -> String {
        if !head.starts_with("POST /messages?id=1 ") {
            return "HTTP/1.1 404 X\r\nContent-Length: 3\r\n\r\nno!".to_owned();
        }
        let body: Value = serde_json::from_slice(body).expect("JSON");
        let calls = {
            let mut posted = self.posted.lock().expect("posted");
            posted.push(body.clone());
            posted.iter().filter(|body| body["method"] == "tools/call").count()
        };
        let result = match body["method"].as_str().unwrap_or_default() {
            "initialize" => json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                "serverInfo": {"name": "old", "version": "1"}}),
            "tools/list" => json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}),
            "tools/call" => match (self.behavior)(&body, calls) {
                Behavior::Answers => json!({"content": [{"type": "text", "text": "fine"}]}),
                Behavior::Nothing => Value::Null,
                Behavior::EndsTheStream => {
                    *self.stream.lock().expect("stream") = None;
                    Value::Null
                }
                Behavior::Refuses(status) => {
                    return format!("HTTP/1.1 {status} X\r\nContent-Length: 7\r\n\r\nhunter2");
                }
                Behavior::HangsUp => return String::new(),
            },
            _ => Value::Null,
        };
        if let (false, Some(stream)) = (result.is_null(), &*self.stream.lock().expect("stream")) {
            let answer = json!({"jsonrpc": "2.0", "id": body["id"], "result": result});
            let _ = stream.send(format!("event: message\ndata: {answer}\n\n"));
        }
        "HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted".to_owned()
    }
}

const MCP: &str = "
from mcp.server import MCPServer
server = MCPServer('peer')
@server.tool()
def shout(text: str) -> str:
    return text.upper()
server.run('sse', host='127.0.0.1', port=PORT)
";

const FASTMCP: &str = "
from fastmcp import FastMCP
server = FastMCP('peer')
@server.tool
def shout(text: str) -> str:
    return text.upper()
server.run(transport='sse', host='127.0.0.1', port=PORT, show_banner=False)
";

#[tokio::test(flavor = "multi_thread")]
async fn servers_from_npm_and_pypi_work_unchanged_over_sse() {
    let npm = serve(|port| -> Command { everything("sse", port) });
    let plain = serve(|port| python(MCP, port));
    let fast = serve(|port| python(FASTMCP, port));
    let (npm, plain, fast) = tokio::join!(npm, plain, fast);
    for (client, wire) in [(Era::Session, HttpTransport::Sse), (Era::Modern, HttpTransport::Detect)] {
        let mut named = [("npm", &npm), ("py", &plain), ("fast", &fast)].map(|(name, served)| {
            UpstreamSettings { name: name.to_owned(), ..settings(served.address, wire) }
        });
        named.iter_mut().for_each(|settings| settings.start_timeout = Duration::from_secs(60));
        let mut world = GatewayClient::of(client, named.to_vec()).await;
        world.list_of_all().await;
        assert_eq!(text(&world.call("npm__echo", json!({"message": "hi"})).await), "Echo: hi");
        for server in ["py", "fast"] {
            let shouted = world.call(&format!("{server}__shout"), json!({"text": "loud"})).await;
            assert_eq!(text(&shouted), "LOUD", "{client:?}");
        }
        let long = json!({"duration": 1, "steps": 4});
        assert_eq!(progress(&mut world, "npm__trigger-long-running-operation", long).await, 4);
        let model = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "42"}});
        let prompt = json!({"prompt": "?", "maxTokens": 10});
        let sampled = answering(&mut world, client, "npm__trigger-sampling-request", prompt, model).await;
        assert!(text(&sampled).contains("42"), "{client:?}: {sampled}");
        world.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_found_out_and_remembered() {
    let legacy = LegacyServer::good(|_, _| Behavior::Answers).await;
    let mut world = GatewayClient::new(vec![legacy.settings(HttpTransport::Detect)]).await;
    assert_eq!(text(&world.call("up__t", json!({})).await), "fine");
    let begun = ["initialize", "notifications/initialized", "tools/list", "tools/call"];
    assert_eq!(legacy.methods(), begun, "in this order");
    let mut world = GatewayClient::new(vec![legacy.settings(HttpTransport::Streamable)]).await;
    let answer = world.ask("resources/read", json!({"uri": "up+x://y"})).await;
    assert_eq!(failed(&answer).1, "gateway/UPSTREAM_DOWN", "only what was asked for is spoken: {answer}");
    assert_eq!(answer["error"]["data"]["facts"]["status"], 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_at_once_are_answered_on_one_stream() {
    let legacy = LegacyServer::good(|_, _| Behavior::Answers).await;
    let mut world = GatewayClient::new(vec![legacy.settings(HttpTransport::Sse)]).await;
    world.ask("tools/list", json!({})).await;
    let mut open = std::collections::HashSet::new();
    for _ in 0..200 {
        open.insert(world.start("tools/call", json!({"name": "up__t", "arguments": {}})).await);
    }
    while !open.is_empty() {
        let answer = world.hear().await;
        assert_eq!(text(&answer), "fine");
        assert!(open.remove(&answer["id"].as_u64().expect("an id")), "once");
    }
    assert_eq!(legacy.streams.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_call_is_reported_and_the_next_one_works() {
    type StreamCase = (&'static str, Behavior, Option<(&'static str, &'static str)>, usize);
    // The behaviour for the first call, the expected reason, and the expected number of streams.
    let cases: [StreamCase; 7] = [
        ("the stream ends", Behavior::EndsTheStream, Some(("gateway/UPSTREAM_DOWN", "unknown")), 2),
        ("no answer", Behavior::Nothing, Some(("gateway/UPSTREAM_TIMEOUT", "unknown")), 1),
        ("a hang-up", Behavior::HangsUp, Some(("gateway/UPSTREAM_DOWN", "unknown")), 1),
        ("500", Behavior::Refuses(500), Some(("gateway/UPSTREAM_GARBLED", "unknown")), 1),
        ("401", Behavior::Refuses(401), Some(("gateway/UPSTREAM_DOWN", "none")), 1),
        ("429", Behavior::Refuses(429), Some(("gateway/UPSTREAM_DOWN", "none")), 1),
        // A server that no longer knows the session did nothing, so the call is repeated.
        ("404", Behavior::Refuses(404), None, 2),
    ];
    for (name, first, failure, streams) in cases {
        let legacy =
            LegacyServer::good(move |_, calls| if calls == 1 { first } else { Behavior::Answers }).await;
        let mut settings = legacy.settings(HttpTransport::Sse);
        settings.timeout = Duration::from_secs(4);
        let mut world = GatewayClient::new(vec![settings]).await;
        let answer = world.call("up__t", json!({})).await;
        match failure {
            Some((reason, effect)) => {
                assert_eq!(failed(&answer).1, reason, "{name}: {answer}");
                assert_eq!(answer["error"]["data"]["effect"], effect, "{name}: {answer}");
            }
            None => assert_eq!(text(&answer), "fine", "{name}"),
        }
        assert_eq!(text(&world.call("up__t", json!({})).await), "fine", "{name}");
        let calls = if failure.is_some() { 2 } else { 3 };
        assert_eq!((legacy.streams.load(Ordering::SeqCst), legacy.calls()), (streams, calls), "{name}");
        world.nothing_leaked();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_does_not_begin_as_it_should_is_no_connection() {
    let cases = [
        ("another server", "event: endpoint\ndata: http://127.0.0.1:1/messages\n\n", "on another server"),
        ("another scheme", "event: endpoint\ndata: ftp://x/messages\n\n", "on another server"),
        ("nothing", "", "no introduction in time"),
        ("a message first", "data: {}\n\n", "no introduction in time"),
        ("a message nobody can read", "event: endpoint\ndata: \u{fffd} \u{1}\n\n", "on another server"),
    ];
    for (name, begins, noted) in cases {
        let legacy = LegacyServer::new(begins, |_, _| Behavior::Answers).await;
        let mut settings = legacy.settings(HttpTransport::Sse);
        settings.start_timeout = Duration::from_secs(3);
        let mut world = GatewayClient::new(vec![settings]).await;
        let answer = world.ask("resources/read", json!({"uri": "up+x://y"})).await;
        assert_eq!(failed(&answer).1, "gateway/UPSTREAM_DOWN", "{name}: {answer}");
        assert_eq!(answer["error"]["data"]["effect"], "none", "{name}: {answer}");
        assert!(world.journal().contains(noted), "{name}: {}", world.journal());
        assert!(legacy.methods().is_empty(), "{name}: nothing was posted");
    }
}
