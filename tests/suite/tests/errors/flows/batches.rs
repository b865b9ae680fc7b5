//! Batches, which only revision 2025-03-26 has.

use failwell_rpc::Revision;
use serde_json::{Value, json};

use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::judge;
use crate::received_message::ReceivedMessage;
use crate::requests;
use crate::schemas;
use crate::world::World;

const REVISION: Revision = Revision::V2025_03_26;

fn mixed() -> String {
    let slow = requests::tool(REVISION, "1", "suite_late", json!({"ms": 100}));
    let unknown = requests::request(REVISION, "\"two\"", "no/such/method", &json!({}));
    format!("[{slow},{},{unknown},42,{{\"jsonrpc\":\"2.0\",\"id\":5}}]", requests::INITIALIZED)
}

/// The answers in the order of the requests; the notification has none.
fn check_mixed(answer: &ReceivedMessage) {
    let all = answer.value.as_array().expect("an array");
    let seen: Vec<(Value, Option<i64>)> = all
        .iter()
        .map(|one| (one["id"].clone(), one.pointer("/error/code").and_then(Value::as_i64)))
        .collect();
    let expected = [
        (json!(1), None),
        (json!("two"), Some(-32601)),
        (Value::Null, Some(-32600)),
        (json!(5), Some(-32600)),
    ];
    assert_eq!(seen, expected, "{}", answer.text);
    assert_eq!(judge::no_leak(&answer.text), Ok(()));
    for one in all {
        assert_eq!(schemas::check(one, None, REVISION), Ok(()));
    }
}

#[tokio::test]
async fn over_stdio() {
    let world = World::new();
    let mut client = Stdio::open(&world, REVISION).await;
    client.send(mixed()).await;
    check_mixed(&client.next().await);
    client.send(format!("[{},{}]", requests::INITIALIZED, requests::INITIALIZED)).await;
    assert!(client.still_works().await.is_empty(), "notifications alone get silence");
    assert_eq!(world.journal().len(), 3);
}

#[tokio::test]
async fn over_http() {
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::open(&server, REVISION).await;
    let response = client.post("/mcp", mixed()).await;
    assert_eq!(response.status, 200);
    check_mixed(&ReceivedMessage::read(&response.body).expect("an answer"));
    let notices = client.post("/mcp", format!("[{}]", requests::INITIALIZED)).await;
    assert_eq!((notices.status, notices.body.len()), (202, 0));
    client.still_works().await;
    assert_eq!(world.journal().len(), 3);
}
