//! The fixture behind the gateway over HTTP, in all four cells of client era and upstream era.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use failwell_controls::{Settings, build_pipeline};
use failwell_journal::{Journal, LogStyle};
use failwell_rpc::Era;
use failwell_transport::serve_http;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use crate::client::{GatewayClient, text};
use crate::script::{read_raw, settings};

/// The fixture, which speaks both eras.
pub(crate) async fn fixture() -> SocketAddr {
    let server = Arc::new(failwell_suite::fixture().expect("the fixture"));
    let journal = Journal::to(LogStyle::Json, std::io::sink());
    let pipeline = build_pipeline(server, Settings::default(), journal).expect("a pipeline");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(serve_http(pipeline, listener, failwell_rest::http_settings(), CancellationToken::new()));
    address
}

/// The fixture without the modern era: a proxy in front of it does not know `server/discover`.
async fn of_session_era(behind: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(forward(socket, behind));
        }
    });
    address
}

async fn forward(mut socket: TcpStream, behind: SocketAddr) -> Option<()> {
    let (head, body) = read_raw(&mut socket).await?;
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    if message["method"] == "server/discover" {
        let error = json!({"code": -32601, "message": "Method not found"});
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string();
        let length = answer.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        return socket.write_all(format!("{head}{answer}").as_bytes()).await.ok();
    }
    let mut upstream = TcpStream::connect(behind).await.ok()?;
    // `host` names the proxy. The fixture accepts any loopback address.
    let head = head.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    upstream.write_all(head.as_bytes()).await.ok()?;
    upstream.write_all(&body).await.ok()?;
    tokio::io::copy_bidirectional(&mut socket, &mut upstream).await.ok()?;
    Some(())
}

async fn world(client: Era, upstream: Era) -> GatewayClient {
    let address = fixture().await;
    let address = if upstream == Era::Session { of_session_era(address).await } else { address };
    let mut settings = settings("fx", address);
    settings.timeout = Duration::from_secs(30);
    GatewayClient::of(client, vec![settings]).await
}

const CELLS: [(Era, Era); 4] = [
    (Era::Session, Era::Session),
    (Era::Session, Era::Modern),
    (Era::Modern, Era::Session),
    (Era::Modern, Era::Modern),
];

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_and_called() {
    for (client, upstream) in CELLS {
        let mut world = world(client, upstream).await;
        let list = world.ask("tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("no tools in {list}"));
        assert!(
            tools.len() > 20 && tools.iter().any(|tool| tool["name"] == "fx__test_simple_text"),
            "{list}"
        );
        let called = world.call("fx__test_simple_text", json!({})).await;
        assert!(text(&called).contains("simple text"), "{client:?} to {upstream:?}: {called}");
        let big = world.call("fx__suite_big", json!({"bytes": 3_000_000})).await;
        assert_eq!(text(&big).len(), 3_000_000, "{client:?} to {upstream:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_a_tool_wants_in_headers_are_repeated_there() {
    for (client, upstream) in CELLS {
        let mut world = world(client, upstream).await;
        let called = world.call("fx__test_custom_headers", json!({"region": "Düsseldorf"})).await;
        assert_eq!(text(&called), "Region: Düsseldorf", "{client:?} to {upstream:?}");
        let called = world.call("fx__test_custom_headers", json!({})).await;
        assert_eq!(text(&called), "Region: nowhere", "{client:?} to {upstream:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_comes_under_the_clients_own_token() {
    for (client, upstream) in CELLS {
        let mut world = world(client, upstream).await;
        let params = json!({"name": "fx__test_tool_with_progress", "arguments": {}, "_meta": {"progressToken": "mine"}});
        let id = world.start("tools/call", params).await;
        let mut messages = Vec::new();
        let answer = loop {
            let message = world.hear().await;
            if message["id"] == id {
                break message;
            }
            assert_eq!(message["method"], "notifications/progress", "{message}");
            assert_eq!(message["params"]["progressToken"], "mine", "{message}");
            messages.push(message["params"]["progress"].as_f64().expect("a number"));
        };
        assert!(text(&answer).contains("progress"), "{answer}");
        assert_eq!(messages, [0.0, 50.0, 100.0], "{client:?} to {upstream:?}");
    }
}

/// Calls a tool that asks the client, answers as a client of its era does, and returns the result.
pub(super) async fn answering(
    world: &mut GatewayClient,
    client: Era,
    tool: &str,
    arguments: Value,
    answer: Value,
) -> Value {
    let mut params = json!({"name": tool, "arguments": arguments});
    for _ in 0..4 {
        let id = world.start("tools/call", params.clone()).await;
        let message = loop {
            let message = world.hear().await;
            if message["id"] == id && message.get("method").is_none() {
                break message;
            }
            if message.get("id").is_some() {
                assert_eq!(client, Era::Session, "only a session is asked directly: {message}");
                world.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer})).await;
            }
        };
        if message["result"]["resultType"] != "input_required" {
            return message;
        }
        assert_eq!(client, Era::Modern, "{message}");
        let asked = message["result"]["inputRequests"].as_object().expect("questions");
        let answers: Value =
            asked.keys().map(|key| (key.clone(), answer.clone())).collect::<serde_json::Map<_, _>>().into();
        params["inputResponses"] = answers;
        params["requestState"] = message["result"]["requestState"].clone();
    }
    panic!("it never stops asking");
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_reach_the_client_and_answers_the_upstream() {
    for (client, upstream) in CELLS {
        let mut world = world(client, upstream).await;
        let form = json!({"action": "accept", "content": {"username": "ada", "email": "ada@example.com"}});
        let elicited =
            answering(&mut world, client, "fx__test_elicitation", json!({"message": "who?"}), form).await;
        assert!(text(&elicited).contains("ada@example.com"), "{client:?} to {upstream:?}: {elicited}");
        let model =
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "forty-two"}});
        let sampled = answering(&mut world, client, "fx__test_sampling", json!({"prompt": "?"}), model).await;
        assert_eq!(text(&sampled), "LLM response: forty-two", "{client:?} to {upstream:?}");
    }
}

/// Several concurrent callers: over HTTP a question on the stream of a call belongs to that call.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_belongs_to_its_call_whatever_else_is_running() {
    let mut world = world(Era::Session, Era::Session).await;
    let slow = world.start("tools/call", json!({"name": "fx__suite_late", "arguments": {"ms": 1500}})).await;
    let form = json!({"action": "accept", "content": {"username": "ada", "email": "ada@example.com"}});
    let arguments = json!({"message": "who?"});
    let elicited = answering(&mut world, Era::Session, "fx__test_elicitation", arguments, form).await;
    assert!(text(&elicited).contains("ada@example.com"), "{elicited}");
    let late = world.hear().await;
    assert_eq!(late["id"], slow);
    assert_eq!(text(&late), "1500 ms later");
}
