//! Every queue has a limit, and a full queue is a fault that names the limit.

use failwell_controls::Settings;
use failwell_pipeline::PipelineSettings;
use failwell_rpc::{Era, Revision};
use serde_json::json;

use crate::case::{error, result};
use crate::client::http::{Http, Server, settings};
use crate::client::stdio::Stdio;
use crate::flows::{assert_outcome, refused};
use crate::requests;
use crate::world::{self, World};

fn narrow() -> World {
    let bounds = PipelineSettings { most_in_flight: 1, most_listeners: 1, ..world::bounds() };
    World::with(Settings { bounds, ..world::settings() })
}

#[tokio::test]
async fn too_many_in_flight() {
    for revision in Revision::ALL {
        let world = narrow();
        let mut client = Stdio::open(&world, revision).await;
        client.send(requests::tool(revision, "1", "suite_late", json!({"ms": 1_000}))).await;
        client.send(requests::good(revision, "2")).await;
        let expected = error("server/BUSY", 1429, 429).id("2").with("/facts/limit", 1);
        assert_outcome(&world, &client.next().await, &expected, revision);
        assert_outcome(&world, &client.next().await, &result().id("1"), revision);
        assert!(client.still_works().await.is_empty());

        let world = narrow();
        let server = Server::start(&world, settings()).await;
        let mut client = Http::open(&server, revision).await;
        let mut late =
            client.begin_post(requests::tool(revision, "1", "suite_late", json!({"ms": 2_000}))).await;
        world.works_on(1).await;
        let response = client.post("/mcp", requests::good(revision, "2")).await;
        refused(&world, &response, (429, 1429, "server/BUSY"));
        assert!(response.header("retry-after").is_some());
        assert_eq!(late.response().await.message().first_text(), "2000 ms later");
        client.still_works().await;
    }
}

#[tokio::test]
async fn subscriptions_end_in_good_order() {
    let revision = Revision::LATEST;
    assert_eq!(revision.era(), Era::Modern);
    let world = narrow();
    let mut client = Stdio::open(&world, revision).await;
    let listen = |id: &str| {
        let wanted = json!({"notifications": {"toolsListChanged": true}});
        requests::request(revision, id, "subscriptions/listen", &wanted)
    };
    client.send(listen("1")).await;
    let first = client.next_of_any_kind().await;
    assert_eq!(first.value["method"], "notifications/subscriptions/acknowledged", "{}", first.text);
    client.send(listen("2")).await;
    assert_outcome(&world, &client.next().await, &error("server/BUSY", 1429, 429).id("2"), revision);
    client.send(requests::tool(revision, "3", "test_trigger_tool_change", json!({}))).await;
    assert!(client.next().await.is_answer_to("3"));
    let rest = client.finish().await;
    let farewell = rest.last().expect("a farewell");
    assert_outcome(&world, farewell, &result().id("1"), revision);
}
