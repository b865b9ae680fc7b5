//! Each message is scanned once, whatever its headers, its body and its session say.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test may stop at once")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use failwell_journal::{Journal, LogStyle};
use failwell_pipeline::{Controls, Pipeline, PipelineSettings};
use failwell_rpc::scan::scans_of_this_thread;
use failwell_toolbox::{Info, Tool, ToolOutcome, Toolbox};
use failwell_transport::{HttpSettings, StdioSettings, serve_http, serve_stdio};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, split};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(60);
const USUAL: &str = "application/json, text/event-stream";
const EVENTS: &str = "text/event-stream, application/json";
const PLAIN: &str = "application/json";
const MODERN: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn pipeline() -> Arc<Pipeline> {
    let schema = json!({"type": "object"});
    let echo = Tool::dynamic("echo", "Says what it was told.", schema, None, |arguments, _| async move {
        Ok(ToolOutcome::text(arguments.to_string()))
    });
    let toolbox = Toolbox::new(Info::new("echoes", "1")).tool(echo.expect("a tool"));
    let journal = Journal::to(LogStyle::Json, std::io::sink());
    Pipeline::new(Arc::new(toolbox), PipelineSettings::default(), Controls::default(), journal)
        .expect("a pipeline")
}

fn initialize(revision: &str) -> String {
    let client = json!({"name": "t", "version": "1"});
    let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
}

fn call(argument: &str) -> String {
    let params = json!({"name": "echo", "arguments": {"say": argument}});
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string()
}

fn modern_call() -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"name": "echo", "arguments": {"say": "hi"}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).to_string()
}

struct Client {
    server: SocketAddr,
    problems: Vec<String>,
}

impl Client {
    /// Sends a body, whose answer must contain these texts. Returns the whole response.
    async fn post(
        &mut self,
        (name, path, accept): (&str, &str, &str),
        headers: &[(&str, &str)],
        body: &str,
        expected: &[&str],
    ) -> String {
        let mut request = format!("POST {path} HTTP/1.1\r\nHost: {}\r\nAccept: {accept}\r\n", self.server);
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        let length = body.len();
        request += &format!(
            "Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        );
        let before = scans_of_this_thread();
        let mut response = Vec::new();
        let exchange = async {
            let mut socket = TcpStream::connect(self.server).await?;
            socket.write_all(request.as_bytes()).await?;
            socket.read_to_end(&mut response).await
        };
        timeout(PATIENCE, exchange).await.expect("in time").expect("a response");
        let scans = scans_of_this_thread() - before;
        let response = String::from_utf8_lossy(&response).into_owned();
        if scans != 1 {
            self.problems.push(format!("{name}: {scans} scans"));
        }
        if !expected.iter().all(|part| response.contains(part)) {
            self.problems.push(format!("{name}: no {expected:?} in {response}"));
        }
        response
    }

    /// The id of a new session.
    async fn session(&mut self, revision: &str) -> String {
        let begun =
            self.post(("initialize", "/mcp", USUAL), &[], &initialize(revision), &["200", "echoes"]).await;
        let id = begun.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
        let id = id.trim().to_owned();
        let headers = [("Mcp-Session-Id", id.as_str()), ("MCP-Protocol-Version", revision)];
        self.post(("initialized", "/mcp", USUAL), &headers, INITIALIZED, &["202"]).await;
        id
    }
}

/// One thread runs client and server, so that the count of this thread is the count of the server.
#[tokio::test]
async fn messages_over_http_are_scanned_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let server = listener.local_addr().expect("an address");
    let stop = CancellationToken::new();
    tokio::spawn(serve_http(pipeline(), listener, HttpSettings::default(), stop.clone()));
    let mut client = Client { server, problems: Vec::new() };

    let id = client.session("2025-11-25").await;
    let session = [("Mcp-Session-Id", id.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    let modern = [MODERN, ("Mcp-Method", "tools/call"), ("Mcp-Name", "echo")];
    let modern_in_session = [&modern[..], &[("Mcp-Session-Id", id.as_str())]].concat();
    let lost = [("Mcp-Session-Id", "lost")];
    let mentions = call("io.modelcontextprotocol/protocolVersion");
    let (hi, now, broken) = (call("hi"), modern_call(), r#"{"jsonrpc": nothing"#);
    let batch = format!("[{hi},{INITIALIZED}]");
    let (accepted, lost_session) = (["200", r#""id":7"#, "say"], ["404", r#""id":7"#, "http/SESSION_LOST"]);
    let refused = ["400", "rpc/NOT_JSON"];
    for (name, accept, headers, body, expected) in [
        ("in a session", USUAL, &session[..], hi.as_str(), &accepted[..]),
        ("in a session, as events", EVENTS, &session, &hi, &[&accepted[..], &["data: "]].concat()),
        ("in a session, with the modern key in its text", USUAL, &session, &mentions, &accepted),
        ("in a session, with the modern key, as events", EVENTS, &session, &mentions, &accepted),
        ("modern", USUAL, &modern, &now, &accepted),
        ("modern, as events", EVENTS, &modern, &now, &accepted),
        ("modern by its body alone", USUAL, &modern[1..], &now, &["400", "mcp/HEADER"]),
        ("modern, with a session", USUAL, &modern_in_session, &now, &accepted),
        ("modern by its header, with a session", USUAL, &modern_in_session, &hi, &["400", r#""id":7"#]),
        ("in a lost session", USUAL, &lost, &hi, &lost_session),
        ("in a lost session, as events", EVENTS, &lost, &hi, &lost_session),
        ("in a lost session, with the modern key in its text", USUAL, &lost, &mentions, &lost_session),
        ("without a session", USUAL, &[], &hi, &["400", r#""id":7"#, "http/SESSION_REQUIRED"]),
        ("without a session, as events", EVENTS, &[], &hi, &["400", r#""id":7"#, "http/SESSION_REQUIRED"]),
        ("unreadable", USUAL, &[], broken, &refused),
        ("unreadable in a session", USUAL, &session, broken, &refused),
        ("unreadable in a session, as events", EVENTS, &session, broken, &refused),
        ("unreadable in a lost session", USUAL, &lost, broken, &["404", "http/SESSION_LOST"]),
        ("unreadable in a lost session, as events", EVENTS, &lost, broken, &["404", "http/SESSION_LOST"]),
        ("unreadable and modern", USUAL, &modern, broken, &refused),
        ("unreadable and modern, with a session", USUAL, &modern_in_session, broken, &refused),
        ("a batch that is not allowed", USUAL, &session, &batch, &["400", "rpc/BATCH_NOT_ALLOWED"]),
        ("the same as events", EVENTS, &session, &batch, &["400", "rpc/BATCH_NOT_ALLOWED"]),
        ("a modern batch", USUAL, &modern, &batch, &["400", "rpc/BATCH_NOT_ALLOWED"]),
    ] {
        client.post((name, "/mcp", accept), headers, body, expected).await;
    }

    let id = client.session("2025-03-26").await;
    let batches = [("Mcp-Session-Id", id.as_str())];
    client.post(("a batch", "/mcp", USUAL), &batches, &batch, &accepted).await;
    client.post(("a batch as events", "/mcp", EVENTS), &batches, &batch, &accepted).await;

    let direct = json!({"jsonrpc": "2.0", "id": 7, "method": "echo", "params": {"say": "hi"}}).to_string();
    client.post(("/rpc", "/rpc", PLAIN), &[], &direct, &accepted).await;
    client.post(("a batch over /rpc", "/rpc", PLAIN), &[], &format!("[{direct}]"), &accepted).await;
    client.post(("REST", "/v1/tools/echo", PLAIN), &[], r#"{"say":"hi"}"#, &["200", "say"]).await;
    stop.cancel();
    assert!(client.problems.is_empty(), "{}", client.problems.join("\n"));
}

#[tokio::test]
async fn messages_over_stdio_are_scanned_once() {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let ((read, mut write), (input, output)) = (split(ours), split(theirs));
    let stop = CancellationToken::new();
    tokio::spawn(serve_stdio(pipeline(), input, output, StdioSettings::default(), stop.clone()));
    let mut answers = BufReader::new(read).lines();
    for (line, expected) in [
        (initialize("2025-03-26"), "echoes"),
        (format!("[{},{INITIALIZED}]", call("hi")), "say"),
        (call("hi"), "say"),
        (modern_call(), "say"),
        (r#"{"jsonrpc": nothing"#.to_owned(), "rpc/NOT_JSON"),
    ] {
        let before = scans_of_this_thread();
        write.write_all((line.clone() + "\n").as_bytes()).await.expect("sent");
        let answer = timeout(PATIENCE, answers.next_line()).await.expect("in time");
        let answer = answer.expect("readable").expect("an answer");
        assert!(answer.contains(expected), "{line}: {answer}");
        assert_eq!(scans_of_this_thread() - before, 1, "{line}");
    }
    stop.cancel();
}
