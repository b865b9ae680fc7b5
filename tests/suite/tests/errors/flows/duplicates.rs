//! Two requests under one id at the same time.

use failwell_rpc::Revision;
use serde_json::json;

use super::assert_outcome;
use crate::case::{error, result};
use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::requests;
use crate::world::World;

#[tokio::test]
async fn over_stdio_the_second_is_refused_and_the_first_goes_on() {
    for revision in Revision::ALL {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        client.send(requests::tool(revision, "7", "suite_late", json!({"ms": 1_000}))).await;
        client.send(requests::good(revision, "7")).await;
        let expected = error("rpc/DUPLICATE_ID", -32600, 400).id("7");
        assert_outcome(&world, &client.next().await, &expected, revision);
        let first = client.next().await;
        assert_outcome(&world, &first, &result().id("7"), revision);
        assert_eq!(first.first_text(), "1000 ms later");
        // Once it is answered, the id may be used again.
        client.send(requests::good(revision, "7")).await;
        assert_outcome(&world, &client.next().await, &result().id("7"), revision);
        assert!(client.still_works().await.is_empty());
    }
}

#[tokio::test]
async fn over_http_answers_belong_to_their_exchange() {
    for revision in Revision::ALL {
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        let mut late =
            client.begin_post(requests::tool(revision, "7", "suite_late", json!({"ms": 200}))).await;
        let second = client.post("/mcp", requests::good(revision, "7")).await.message();
        assert_outcome(&world, &second, &result().id("7"), revision);
        let first = late.response().await.message();
        assert_eq!(first.first_text(), "200 ms later", "{}", first.text);
        client.still_works().await;
    }
}
