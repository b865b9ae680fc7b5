//! Shutting down: every request that was accepted is answered first.

use failwell_rpc::Revision;
use serde_json::json;
use tokio::net::TcpStream;

use crate::case::result;
use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::flows::assert_outcome;
use crate::requests;
use crate::world::World;

#[tokio::test]
async fn over_stdio() {
    for revision in Revision::ALL {
        let world = World::new();
        let mut client = Stdio::open(&world, revision).await;
        for id in 0..20 {
            client.send(requests::tool(revision, &id.to_string(), "suite_late", json!({"ms": 1_000}))).await;
        }
        assert!(client.still_works().await.is_empty());
        client.stop.cancel();
        let answers = client.finish().await;
        let mut ids: Vec<i64> = answers.iter().filter_map(|seen| seen.value["id"].as_i64()).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..20).collect::<Vec<i64>>(), "{}", revision.as_str());
        assert!(world.journal().is_empty());
    }
}

#[tokio::test]
async fn over_http() {
    for revision in Revision::ALL {
        let world = World::new();
        let server = Server::start(&world, settings()).await;
        let client = Http::open(&server, revision).await;
        let address = server.address;
        let mut waiting = Vec::new();
        for id in 0..20 {
            let call = requests::tool(revision, &id.to_string(), "suite_late", json!({"ms": 2_000}));
            waiting.push((id.to_string(), client.begin_post(call).await));
        }
        world.works_on(20).await;
        let ending = tokio::spawn(server.finish());
        for (id, mut wire) in waiting {
            let response = wire.response().await;
            assert_eq!(response.status, 200);
            assert_outcome(&world, &response.message(), &result().id(&id), revision);
        }
        ending.await.expect("the server ended");
        assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
        assert!(world.journal().is_empty());
    }
}
