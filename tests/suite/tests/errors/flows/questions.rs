//! Tools that ask the client, and clients with invalid answers.

use failwell_rpc::Revision;
use serde_json::{Value, json};

use super::{SESSIONS, assert_outcome};
use crate::case::{error, result, tool_error};
use crate::client::stdio::Stdio;
use crate::requests;
use crate::world::World;

/// Calls a tool that asks, and returns the id of its question.
async fn asked(client: &mut Stdio) -> Value {
    let call = requests::tool(client.revision, "7", "test_elicitation", json!({"message": "Who?"}));
    client.send(call).await;
    let question = client.next_of_any_kind().await;
    assert_eq!(question.value["method"], "elicitation/create", "{}", question.text);
    assert_eq!(crate::schemas::check(&question.value, None, client.revision), Ok(()));
    question.value["id"].clone()
}

#[tokio::test]
async fn an_error_instead_of_an_answer() {
    for revision in SESSIONS {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        let id = asked(&mut client).await;
        let refusal =
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "PRIVATE-MARKER-7f3a"}});
        client.send(refusal.to_string()).await;
        assert_outcome(&world, &client.next().await, &tool_error("mcp/CLIENT_REFUSED").id("7"), revision);
        assert!(client.still_works().await.is_empty());
    }
}

#[tokio::test]
async fn an_answer_of_the_wrong_shape() {
    for revision in SESSIONS {
        for wrong in [json!({}), json!({"action": "maybe"}), json!("accept"), json!([1])] {
            let world = World::new();
            let mut client = Stdio::open(&world, revision).await;
            let id = asked(&mut client).await;
            client.send(json!({"jsonrpc": "2.0", "id": id, "result": wrong}).to_string()).await;
            let expected = error("mcp/BAD_INPUT", -32602, 200).id("7").with("/facts/key", "form");
            assert_outcome(&world, &client.next().await, &expected, revision);
            assert!(client.still_works().await.is_empty());
        }
    }
}

#[tokio::test]
async fn no_answer_at_all() {
    let revision = Revision::LATEST_SESSION;
    let world = World::new();
    let mut client = Stdio::open(&world, revision).await;
    let id = asked(&mut client).await;
    assert_outcome(&world, &client.next().await, &tool_error("server/TIMEOUT").id("7"), revision);
    // A late answer, sent twice: the request has ended.
    for _ in 0..2 {
        client.send(json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept"}}).to_string()).await;
    }
    assert!(client.still_works().await.is_empty());
}

#[tokio::test]
async fn a_client_that_leaves_while_it_is_asked() {
    let revision = Revision::LATEST_SESSION;
    let world = World::new();
    let mut client = Stdio::open(&world, revision).await;
    asked(&mut client).await;
    let rest = client.finish().await;
    assert_eq!(rest.len(), 1, "the call is answered though its question is not");
    assert_outcome(&world, &rest[0], &tool_error("mcp/CLIENT_REFUSED").id("7"), revision);
}

#[tokio::test]
async fn no_is_an_answer() {
    for revision in SESSIONS {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        let id = asked(&mut client).await;
        client.send(json!({"jsonrpc": "2.0", "id": id, "result": {"action": "decline"}}).to_string()).await;
        let answer = client.next().await;
        assert_outcome(&world, &answer, &result().id("7"), revision);
        assert!(answer.first_text().contains("action: decline"), "{}", answer.text);
    }
}

#[tokio::test]
async fn the_modern_era_answers_in_the_next_request() {
    let revision = Revision::LATEST;
    let world = World::new();
    let mut client = Stdio::open(&world, revision).await;
    let able = json!({"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}});
    let call = |id: &str, arguments: Value, more: Value| {
        let mut params = json!({"name": "test_elicitation", "arguments": arguments, "_meta": able});
        params.as_object_mut().expect("params").extend(more.as_object().expect("more").clone());
        requests::request(revision, id, "tools/call", &params)
    };
    client.send(call("1", json!({"message": "Who?"}), json!({}))).await;
    let first = client.next().await;
    assert_eq!(first.value["result"]["resultType"], "input_required", "{}", first.text);
    assert_eq!(crate::schemas::check(&first.value, Some("tools/call"), revision), Ok(()));
    let state = first.value["result"]["requestState"].clone();
    let accepted = json!({"form": {"action": "accept", "content": {"username": "u", "email": "e"}}});

    let wrong_shape = json!({"inputResponses": {"form": 5}, "requestState": state});
    client.send(call("2", json!({"message": "Who?"}), wrong_shape)).await;
    assert_outcome(&world, &client.next().await, &error("mcp/BAD_INPUT", -32602, 200).id("2"), revision);

    let edited =
        json!({"inputResponses": accepted, "requestState": format!("{}x", state.as_str().unwrap_or(""))});
    client.send(call("3", json!({"message": "Who?"}), edited)).await;
    assert_outcome(&world, &client.next().await, &error("mcp/BAD_STATE", -32602, 200).id("3"), revision);

    let whole = json!({"inputResponses": accepted, "requestState": state});
    client.send(call("4", json!({"message": "Somebody else?"}), whole.clone())).await;
    assert_outcome(&world, &client.next().await, &error("mcp/BAD_STATE", -32602, 200).id("4"), revision);

    client.send(call("5", json!({"message": "Who?"}), whole)).await;
    assert_outcome(&world, &client.next().await, &result().id("5"), revision);
}
