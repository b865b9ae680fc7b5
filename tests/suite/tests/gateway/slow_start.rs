//! Servers that take long to start: calls wait for them as long as their settings say, lists do not.

use std::time::{Duration, Instant};

use failwell_gateway::UpstreamSettings;
use failwell_rpc::Era;
use failwell_suite::script::{ConnectionAction, Script, introduced, json_response, raw, response};
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil_with, failed, text};

const SECOND: Duration = Duration::from_secs(1);

fn slow(start_ms: &str) -> UpstreamSettings {
    evil_with(&[("EVIL_START_MS", start_ms)])
}

fn names(list: &Value) -> Vec<&str> {
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list in {list}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

/// Longer than the ten seconds that were once a fixed limit.
#[tokio::test(flavor = "multi_thread")]
async fn calls_and_lists_wait_for_a_slow_start_as_long_as_the_settings_say() {
    let patient = || UpstreamSettings { start_timeout: 50 * SECOND, list_wait: 50 * SECOND, ..slow("12000") };
    let began = Instant::now();
    let call = async {
        let mut world = GatewayClient::new(vec![patient()]).await;
        let answer = world.call("ev__echo", json!({"n": 1})).await;
        assert_eq!(text(&answer), r#"{"n":1}"#, "the first call of a session client");
        world.gateway.stop();
    };
    let modern_call = async {
        let mut world = GatewayClient::of(Era::Modern, vec![patient()]).await;
        let answer = world.call("ev__echo", json!({"n": 2})).await;
        assert_eq!(text(&answer), r#"{"n":2}"#, "the first call of a modern client");
        world.gateway.stop();
    };
    let list = async {
        let mut world = GatewayClient::new(vec![patient()]).await;
        let list = world.ask("tools/list", json!({})).await;
        assert!(names(&list).contains(&"ev__echo"), "the first list: {list}");
        assert!(list["result"]["_meta"].is_null(), "{list}");
        world.gateway.stop();
    };
    let alone = async {
        let world = GatewayClient::new(vec![patient()]).await;
        let mut alone = world.able_before(world.gateway.single("ev"), json!({})).await;
        let list = alone.ask("tools/list", json!({})).await;
        assert!(names(&list).contains(&"echo"), "the first list of the server alone: {list}");
        world.gateway.stop();
    };
    tokio::join!(call, modern_call, list, alone);
    assert!(began.elapsed() >= 12 * SECOND, "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_list_wait_gives_a_list_without_it_and_tells_when_it_is_there() {
    // An upstream that starts has its list_wait_s and three seconds more.
    let mut world = GatewayClient::new(vec![UpstreamSettings { list_wait: SECOND, ..slow("8000") }]).await;
    let began = Instant::now();
    let list = world.ask("tools/list", json!({})).await;
    assert!(began.elapsed() < 7 * SECOND, "{:?}", began.elapsed());
    assert_eq!(names(&list), Vec::<&str>::new());
    let missing = &list["result"]["_meta"]["dev.failwell/unreachable"];
    assert_eq!(missing, &json!([{"server": "ev", "reason": "gateway/UPSTREAM_STARTING"}]));
    let journal = world.journal();
    assert!(journal.contains("list_wait_s") && journal.contains("unlisted"), "{journal}");
    // A name without a prefix could belong to the missing upstream.
    let bare = world.call("echo", json!({})).await;
    assert_eq!(failed(&bare), (-32004, "gateway/UPSTREAM_STARTING"), "{bare}");
    assert!(bare["error"]["data"]["hint"].to_string().contains("raise list_wait_s above 1"), "{bare}");
    while world.hear().await["method"] != "notifications/tools/list_changed" {}
    assert!(names(&world.ask("tools/list", json!({})).await).contains(&"ev__echo"));
    world.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_timeout_names_its_setting_to_each_waiting_caller() {
    for (era, code) in [(Era::Session, -32004), (Era::Modern, 1503)] {
        let mut world =
            GatewayClient::of(era, vec![UpstreamSettings { start_timeout: 2 * SECOND, ..slow("60000") }])
                .await;
        let began = Instant::now();
        for _ in 0..3 {
            world.start("tools/call", json!({"name": "ev__echo", "arguments": {}})).await;
        }
        for _ in 0..3 {
            let answer = world.hear().await;
            assert_eq!(failed(&answer), (code, "gateway/UPSTREAM_STARTING"), "{answer}");
            let data = &answer["error"]["data"];
            assert_eq!((&data["kind"], &data["retry"]), (&json!("unavailable"), &json!("after_ms")));
            assert!(data["retry_after_ms"].as_u64().is_some_and(|wait| wait <= 5_000), "{answer}");
            assert_eq!(data["effect"], "none");
            assert_eq!(data["facts"], json!({"server": "ev", "limit_s": 2, "setting": "start_timeout_s"}));
            assert_eq!(data["detail"], "the upstream server ev was still starting after 2 seconds");
            assert!(data["hint"].to_string().contains("raise start_timeout_s above 2"), "{answer}");
        }
        assert!(began.elapsed() < 20 * SECOND, "{:?}", began.elapsed());
        world.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_list_holds_a_call_for_its_timeout() {
    let script = Script::new(|seen| match seen.method() {
        "tools/list" => raw("", ConnectionAction::Hang),
        _ => introduced(Era::Modern, seen).unwrap_or_else(|| response(500, "", "")),
    })
    .await;
    let settings = UpstreamSettings { timeout: 2 * SECOND, ..script.settings("s") };
    let mut world = GatewayClient::new(vec![settings]).await;
    let answer = world.call("s__t", json!({})).await;
    assert_eq!(failed(&answer), (-32004, "gateway/UPSTREAM_TIMEOUT"), "{answer}");
    assert!(answer["error"]["data"]["hint"].to_string().contains("raise timeout_s above 2"), "{answer}");
    world.gateway.stop();
}

/// Some servers answer an unknown method with an empty result.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_answer_about_its_era_is_no_answer() {
    for client in [Era::Session, Era::Modern] {
        let script = Script::new(|seen| match seen.method() {
            "server/discover" => {
                json_response(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {}}))
            }
            _ => introduced(Era::Session, seen).unwrap_or_else(|| response(500, "", "")),
        })
        .await;
        let mut world = GatewayClient::of(client, vec![script.settings("s")]).await;
        let list = world.list_of_all().await;
        assert!(names(&list).contains(&"s__t"), "{client:?}: {list}");
        assert_eq!(script.count("initialize"), 1, "{client:?}");
        world.gateway.stop();
    }
}
