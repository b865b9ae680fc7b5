//! Before, during and after `initialize`.

use failwell_rpc::Revision;
use serde_json::json;

use super::{SESSIONS, assert_outcome, refused};
use crate::case::{error, result};
use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::requests;
use crate::world::World;

#[tokio::test]
async fn only_ping_is_served_before_the_handshake() {
    for revision in SESSIONS {
        let world = World::new();
        let mut client = Stdio::raw(&world, revision);
        client.send(requests::request(revision, "1", "tools/list", &json!({}))).await;
        let expected = error("mcp/NOT_INITIALIZED", -32600, 400).id("1").hints("initialize");
        assert_outcome(&world, &client.next().await, &expected, Revision::LATEST_SESSION);
        client.send(requests::request(revision, "2", "ping", &json!({}))).await;
        assert_outcome(&world, &client.next().await, &result().id("2"), Revision::LATEST_SESSION);
        client.send(requests::initialize(revision, "3")).await;
        assert_outcome(&world, &client.next().await, &result().id("3"), revision);
        assert!(client.still_works().await.is_empty());
    }
}

#[tokio::test]
async fn a_second_handshake_is_refused_and_changes_nothing() {
    for revision in SESSIONS {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        client.send(requests::initialize(Revision::V2024_11_05, "9")).await;
        let expected = error("mcp/ALREADY_INITIALIZED", -32600, 400).id("9");
        assert_outcome(&world, &client.next().await, &expected, revision);
        assert!(client.still_works().await.is_empty());

        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        let again = client.post("/mcp", requests::initialize(revision, "9")).await;
        refused(&world, &again, (400, -32600, "mcp/ALREADY_INITIALIZED"));
        client.still_works().await;
    }
}

#[tokio::test]
async fn a_handshake_that_fails_can_be_repeated() {
    let revision = Revision::LATEST_SESSION;
    let broken = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}"#;
    let world = World::new();
    let mut client = Stdio::raw(&world, revision);
    client.send(broken).await;
    let expected = error("mcp/BAD_PARAMS", -32602, 200)
        .id("1")
        .with("/violations/0/pointer", "/protocolVersion")
        .with("/violations/1/pointer", "/capabilities");
    assert_outcome(&world, &client.next().await, &expected, revision);
    client.send(requests::initialize(revision, "2")).await;
    assert_outcome(&world, &client.next().await, &result().id("2"), revision);
    assert!(client.still_works().await.is_empty());

    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, revision);
    let response = client.post("/mcp", broken).await;
    refused(&world, &response, (200, -32602, "mcp/BAD_PARAMS"));
    assert_eq!(response.header("mcp-session-id"), None, "a failed handshake opens no session");
    Http::open(&server, revision).await.still_works().await;
}

#[tokio::test]
async fn an_unsupported_version_is_answered_with_the_newest() {
    let world = World::new();
    let mut client = Stdio::raw(&world, Revision::LATEST_SESSION);
    let hello = requests::initialize(Revision::LATEST_SESSION, "1").replace("2025-11-25", "1999-01-01");
    client.send(hello).await;
    let seen = client.next().await;
    assert_eq!(seen.value["result"]["protocolVersion"], "2025-11-25", "{}", seen.text);
    assert!(client.still_works().await.is_empty());
}

#[tokio::test]
async fn both_eras_share_one_connection() {
    let world = World::new();
    let mut client = Stdio::open(&world, Revision::V2025_06_18).await;
    client.send(requests::good(Revision::LATEST, "1")).await;
    let modern = client.next().await;
    assert_eq!(modern.value["result"]["resultType"], "complete", "{}", modern.text);
    client.send(requests::good(Revision::V2025_06_18, "2")).await;
    let session = client.next().await;
    assert_eq!(session.value["result"].get("resultType"), None, "{}", session.text);
    assert!(client.still_works().await.is_empty());
}
