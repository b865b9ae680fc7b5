//! Names and URIs of upstreams, and members that are forwarded unchanged.

use serde_json::json;

use crate::client::{GatewayClient, evil, failed, text};
use crate::failures::faults::EvilUpstream;

#[tokio::test(flavor = "multi_thread")]
async fn names_are_prefixed_and_wrong_ones_are_answered_with_near_ones() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    let list = world.ask("tools/list", json!({})).await;
    let echo = &list["result"]["tools"][0];
    assert_eq!((&echo["name"], &echo["x-unknown"]), (&json!("ev__echo"), &json!({"kept": true})));
    assert_eq!(
        text(&world.call("echo", json!({"bare": 1})).await),
        r#"{"bare":1}"#,
        "a unique bare name resolves"
    );
    for wrong in ["nope__x", "__echo", "ev__ecko"] {
        let answer = world.call(wrong, json!({})).await;
        assert_eq!(failed(&answer), (-32602, "mcp/UNKNOWN_TOOL"), "{wrong}");
    }
    let near = world.call("ev__ecko", json!({})).await;
    assert!(near["error"]["data"]["hint"].as_str().is_some_and(|hint| hint.contains("ev__echo")), "{near}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bare_name_of_two_servers_is_ambiguous() {
    let mut world = GatewayClient::new(vec![evil(), EvilUpstream("other").settings()]).await;
    assert_eq!(failed(&world.call("echo", json!({})).await), (-32602, "mcp/UNKNOWN_TOOL"));
    assert_eq!(text(&world.call("other__echo", json!({"x": 1})).await), r#"{"x":1}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_forwarded_with_unknown_members() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    let answer = world.call("ev__echo", json!({})).await;
    assert_eq!(answer["result"]["x-unknown"], json!([1, 2, {"a": "b"}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_keep_valid_addresses_that_map_back() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    let list = world.ask("resources/list", json!({})).await;
    assert_eq!(list["result"]["resources"][0]["uri"], "ev+file:///a");
    let read = world.ask("resources/read", json!({"uri": "ev+file:///a"})).await;
    let content = &read["result"]["contents"][0];
    assert_eq!((&content["uri"], &content["text"]), (&json!("ev+file:///a"), &json!("content of a")));
    let missing = world.ask("resources/read", json!({"uri": "ev+file:///b"})).await;
    assert_eq!(failed(&missing), (-32002, "mcp/UNKNOWN_RESOURCE"));
    assert_eq!(missing["error"]["data"]["uri"], "ev+file:///b");
    world.nothing_leaked();
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_comes_under_the_clients_own_token() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    let params = json!({"name": "ev__progress", "arguments": {}, "_meta": {"progressToken": "mine"}});
    let id = world.start("tools/call", params).await;
    let mut progress = Vec::new();
    loop {
        let message = world.hear().await;
        if message["id"] == id {
            break;
        }
        assert_eq!(message["params"]["progressToken"], "mine");
        assert_eq!(message["params"]["x-unknown"], true);
        progress.push(message["params"]["progress"].clone());
    }
    assert_eq!(progress, [json!(1), json!(2), json!(3)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn methods_are_served_or_unknown() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    assert_eq!(world.ask("ping", json!({})).await["result"], json!({}));
    assert_eq!(failed(&world.ask("foo/bar", json!({})).await), (-32601, "mcp/UNKNOWN_METHOD"));
    assert_eq!(failed(&world.ask("tools/call", json!({"name": 5})).await), (-32602, "mcp/BAD_PARAMS"));
}
