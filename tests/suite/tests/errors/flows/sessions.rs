//! Sessions that are missing, over, or another caller's.

use std::sync::Arc;

use failwell_fault::Secret;
use failwell_policy::Keys;
use failwell_rpc::Revision;
use failwell_transport::HttpSettings;

use super::{SESSIONS, refused};
use crate::client::http::{Http, Server, settings};
use crate::requests;
use crate::world::World;

#[tokio::test]
async fn a_session_is_needed_and_must_be_there() {
    for revision in SESSIONS {
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        for (session, refusal) in [
            ("", (400, -32600, "http/SESSION_REQUIRED")),
            ("no-such-session", (404, -32600, "http/SESSION_LOST")),
        ] {
            let changed = [("Mcp-Session-Id", session)];
            let response = client.post_with("/mcp", requests::good(revision, "7"), &changed).await;
            let seen = refused(&world, &response, refusal);
            assert_eq!(seen.id.as_deref(), Some("7"), "{}", seen.text);
            client.still_works().await;
        }
        let listen = [("Accept".to_owned(), "text/event-stream".to_owned())];
        let response = client.exchange("GET", "/mcp", &listen, b"").await;
        refused(&world, &response, (400, -32600, "http/SESSION_REQUIRED"));
        assert_eq!(world.journal().len(), 3);
    }
}

#[tokio::test]
async fn a_session_that_is_over_is_lost() {
    for revision in SESSIONS {
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        let headers = client.usual(b"");
        assert_eq!(client.exchange("DELETE", "/mcp", &headers, b"").await.status, 204);
        let again = client.exchange("DELETE", "/mcp", &headers, b"").await;
        refused(&world, &again, (404, -32600, "http/SESSION_LOST"));
        let response = client.post("/mcp", requests::good(revision, "7")).await;
        refused(&world, &response, (404, -32600, "http/SESSION_LOST"));
        Http::open(&server, revision).await.still_works().await;
    }
}

#[tokio::test]
async fn a_session_belongs_to_the_key_that_opened_it() {
    for revision in SESSIONS {
        let world = World::new();
        let keys = Keys::default()
            .with("alice", &Secret::new("key-of-alice".to_owned()))
            .with("bob", &Secret::new("key-of-bob".to_owned()));
        let server = Server::start(
            &world,
            HttpSettings { authenticator: Arc::new(failwell_rest::Authenticator::from(keys)), ..settings() },
        )
        .await;
        let mut alice = Http::with_key(&server, revision, "key-of-alice").await;
        let mut bob = Http::with_key(&server, revision, "key-of-bob").await;
        let own = std::mem::replace(&mut bob.session, alice.session.clone());
        // The same response as for a session that never existed.
        let stolen = bob.post("/mcp", requests::good(revision, "7")).await;
        refused(&world, &stolen, (404, -32600, "http/SESSION_LOST"));
        let headers = bob.usual(b"");
        let ended = bob.exchange("DELETE", "/mcp", &headers, b"").await;
        refused(&world, &ended, (404, -32600, "http/SESSION_LOST"));
        alice.still_works().await;
        bob.session = own;
        bob.still_works().await;
    }
}

#[tokio::test]
async fn the_table_of_sessions_is_bounded() {
    let revision = Revision::LATEST_SESSION;
    let world = World::new();
    let server = Server::start(&world, HttpSettings { most_sessions: 2, ..settings() }).await;
    let mut first = Http::open(&server, revision).await;
    let _second = Http::open(&server, revision).await;
    let mut third = Http::raw(&server, revision);
    let response = third.post("/mcp", requests::initialize(revision, "1")).await;
    refused(&world, &response, (429, 1429, "http/TOO_MANY_SESSIONS"));
    first.still_works().await;
}

#[tokio::test]
async fn the_modern_era_has_none() {
    let revision = Revision::LATEST;
    let world = World::new();
    let server = Server::start(&world, settings()).await;
    let mut client = Http::raw(&server, revision);
    let changed = [("Mcp-Session-Id", "whatever")];
    let response = client.post_with("/mcp", requests::good(revision, "7"), &changed).await;
    assert_eq!((response.status, response.header("mcp-session-id")), (200, None));
    // It accepts no responses either, because it sends no requests.
    let answer = client.post("/mcp", r#"{"jsonrpc":"2.0","id":7,"result":{}}"#).await;
    refused(&world, &answer, (400, -32600, "rpc/BAD_SHAPE"));
    client.still_works().await;
}
