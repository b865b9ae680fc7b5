//! Cancellation of requests: before they arrive, while they run, after they ended.

use std::time::{Duration, Instant};

use failwell_rpc::Revision;
use serde_json::json;

use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::flows::SESSIONS;
use crate::requests;
use crate::world::{DEADLINE, World};

fn cancelled(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

#[tokio::test]
async fn a_running_request_is_called_off_in_silence() {
    // At the same time, because each waits for its deadline.
    futures_util::future::join_all(Revision::ALL.map(async |revision| {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        client.send(requests::tool(revision, "\"run\"", "suite_hang", json!({}))).await;
        client.send(cancelled("\"run\"")).await;
        assert!(client.still_works().await.is_empty());
        // After the deadline, a request that still ran would have been answered.
        tokio::time::sleep(DEADLINE + Duration::from_millis(100)).await;
        assert!(client.still_works().await.is_empty(), "{}", revision.as_str());
        assert_eq!(world.reasons_soon().await, ["server/CANCELLED"]);
    }))
    .await;
}

#[tokio::test]
async fn early_and_late_responses_are_ignored() {
    for revision in Revision::ALL {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        client.send(cancelled("1")).await;
        client.send(requests::good(revision, "1")).await;
        assert!(client.next().await.is_answer_to("1"));
        client.send(cancelled("1")).await;
        assert!(client.still_works().await.is_empty());
        assert!(world.journal().is_empty());
    }
}

#[tokio::test]
async fn over_http_a_session_calls_off_with_a_second_request() {
    for revision in SESSIONS {
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        let began = Instant::now();
        let mut hanging = client.begin_post(requests::tool(revision, "5", "suite_hang", json!({}))).await;
        world.works_on(1).await;
        assert_eq!(client.post("/mcp", cancelled("5")).await.status, 202);
        let response = hanging.response().await;
        assert!(began.elapsed() < DEADLINE, "the response ended when the request was called off");
        assert!(response.messages().expect("messages").is_empty(), "and said nothing");
        client.still_works().await;
        assert_eq!(world.reasons_soon().await, ["server/CANCELLED"]);
    }
}

#[tokio::test]
async fn a_session_cannot_cancel_requests_of_another() {
    let revision = Revision::LATEST_SESSION;
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let (client, mut other) = (Http::open(&server, revision).await, Http::open(&server, revision).await);
    let mut late = client.begin_post(requests::tool(revision, "5", "suite_late", json!({"ms": 1_000}))).await;
    world.works_on(1).await;
    assert_eq!(other.post("/mcp", cancelled("5")).await.status, 202);
    assert_eq!(late.response().await.message().first_text(), "1000 ms later");
}

#[tokio::test]
async fn the_end_of_one_request_leaves_its_namesake_within_reach() {
    let revision = Revision::LATEST_SESSION;
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::open(&server, revision).await;
    let mut late = client.begin_post(requests::tool(revision, "5", "suite_late", json!({"ms": 1_500}))).await;
    world.works_on(1).await;
    let mut hanging = client.begin_post(requests::tool(revision, "5", "suite_hang", json!({}))).await;
    world.works_on(2).await;
    assert_eq!(late.response().await.message().first_text(), "1500 ms later");
    assert_eq!(client.post("/mcp", cancelled("5")).await.status, 202);
    assert!(hanging.response().await.messages().expect("messages").is_empty());
    assert_eq!(world.reasons_soon().await, ["server/CANCELLED"]);
}
