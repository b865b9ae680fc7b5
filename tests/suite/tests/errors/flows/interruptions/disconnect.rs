//! Clients that close the connection during a call.

use failwell_rpc::Revision;
use serde_json::json;

use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::client::wire::{Wire, request};
use crate::flows::SESSIONS;
use crate::requests;
use crate::world::World;

/// A client that closed the connection while the server worked on its call.
async fn hang_up(world: &World, server: &Server, revision: Revision) -> Http {
    let client = Http::open(server, revision).await;
    let hanging = client.begin_post(requests::tool(revision, "5", "suite_hang", json!({}))).await;
    world.works_on(1).await;
    drop(hanging);
    client
}

#[tokio::test]
async fn in_the_modern_era_hanging_up_calls_the_request_off() {
    let revision = Revision::LATEST;
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = hang_up(&world, &server, revision).await;
    assert_eq!(world.reasons_soon().await, ["server/CANCELLED"]);
    client.still_works().await;
}

#[tokio::test]
async fn in_a_session_the_request_goes_on() {
    for revision in SESSIONS {
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = hang_up(&world, &server, revision).await;
        client.still_works().await;
        // The request was not cancelled, so it hits its deadline.
        assert_eq!(world.reasons_soon().await, ["server/TIMEOUT"], "{}", revision.as_str());
    }
}

#[tokio::test]
async fn a_client_that_comes_back_gets_the_answer_it_missed() {
    let revision = Revision::LATEST_SESSION;
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::open(&server, revision).await;
    let body = requests::tool(revision, "5", "suite_late", json!({"ms": 300}));
    let mut headers = client.usual(body.as_bytes());
    headers.retain(|(name, _)| name != "Accept");
    headers.push(("Accept".to_owned(), "text/event-stream, application/json".to_owned()));
    let mut wire = Wire::connect(client.address).await;
    let host = client.address.to_string();
    wire.write(&request("POST", "/mcp", &host, &headers, body.as_bytes())).await;
    assert!(wire.head().await.is_events());
    let first = String::from_utf8(wire.chunk().await.expect("a first event")).expect("text");
    let event_id = first.lines().find_map(|line| line.strip_prefix("id: ")).expect("an event id");
    drop(wire);

    let back = [
        ("Accept".to_owned(), "text/event-stream".to_owned()),
        ("Mcp-Session-Id".to_owned(), client.session.clone().expect("a session")),
        ("MCP-Protocol-Version".to_owned(), revision.as_str().to_owned()),
        ("Last-Event-ID".to_owned(), event_id.to_owned()),
    ];
    let resumed = client.exchange("GET", "/mcp", &back, b"").await;
    assert_eq!((resumed.status, resumed.is_events()), (200, true));
    let answer = resumed.message();
    assert!(answer.is_answer_to("5"), "{}", answer.text);
    assert_eq!(answer.first_text(), "300 ms later");
    client.still_works().await;
}

#[tokio::test]
async fn a_stdio_client_that_leaves_is_still_answered() {
    for revision in Revision::ALL {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        client.send(requests::tool(revision, "1", "suite_late", json!({"ms": 1_000}))).await;
        client.send(requests::tool(revision, "2", "suite_late", json!({"ms": 100}))).await;
        let rest = client.finish().await;
        let ids: Vec<_> = rest.iter().filter_map(|seen| seen.id.clone()).collect();
        assert_eq!(ids, ["2", "1"], "{}", revision.as_str());
    }
}
