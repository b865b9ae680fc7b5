//! Upstreams that answer a list request late.

use std::time::{Duration, Instant};

use failwell_gateway::UpstreamSettings;
use failwell_rpc::Era;
use failwell_suite::program::send;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil_with, text};
use crate::failures::faults::EvilUpstream;

/// Less than the ten seconds that an upstream has, and more than a busy machine needs for the others.
const SHORT: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(8);

fn impatient(variables: &[(&str, &str)]) -> Vec<UpstreamSettings> {
    let slow = UpstreamSettings { list_wait: SHORT, ..evil_with(variables) };
    vec![slow, EvilUpstream("other").settings()]
}

fn addresses(list: &Value) -> Vec<&str> {
    let items = list["result"]["resources"].as_array().unwrap_or_else(|| panic!("no list in {list}"));
    items.iter().map(|item| item["uri"].as_str().expect("an address")).collect()
}

/// Waits for a notification of this method.
async fn receive(world: &mut GatewayClient, method: &str) {
    while world.hear().await["method"] != method {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_does_without_one_that_is_stuck_and_tells_when_it_is_back() {
    for (client, upstream) in [
        (Era::Session, "session"),
        (Era::Session, "modern"),
        (Era::Modern, "session"),
        (Era::Modern, "modern"),
    ] {
        let case = format!("{client:?} to {upstream}");
        let mut world = GatewayClient::of(client, impatient(&[("EVIL_ERA", upstream)])).await;
        if client == Era::Modern {
            let wanted = json!({"notifications": {"resourcesListChanged": true}});
            world.start("subscriptions/listen", wanted).await;
            receive(&mut world, "notifications/subscriptions/acknowledged").await;
        }
        let pid: i32 = text(&world.call("ev__pid", json!({})).await).parse().expect("a number");
        world.call("other__echo", json!({})).await;
        send(pid, Signal::STOP);
        for _ in 0..2 {
            let began = Instant::now();
            let list = world.ask("resources/list", json!({})).await;
            assert!(began.elapsed() < LONG, "{case}: {:?}", began.elapsed());
            assert_eq!(addresses(&list), ["other+file:///a"], "{case}");
            let missing = &list["result"]["_meta"]["dev.failwell/unreachable"];
            assert_eq!(missing, &json!([{"server": "ev", "reason": "gateway/UPSTREAM_TIMEOUT"}]), "{case}");
        }
        let journal = world.journal();
        assert!(
            journal.contains("gateway/UPSTREAM_TIMEOUT") && journal.contains("unlisted"),
            "{case}: {journal}"
        );
        send(pid, Signal::CONT);
        receive(&mut world, "notifications/resources/list_changed").await;
        let list = world.ask("resources/list", json!({})).await;
        assert_eq!(addresses(&list), ["ev+file:///a", "other+file:///a"], "{case}");
        assert_eq!(
            text(&world.call("ev__pid", json!({})).await),
            pid.to_string(),
            "{case}: it was left alone"
        );
        world.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_does_without_one_that_takes_long_to_start() {
    let mut world = GatewayClient::new(impatient(&[("EVIL_START_MS", "12000")])).await;
    world.call("other__echo", json!({})).await;
    let mut took = Vec::new();
    for _ in 0..2 {
        let began = Instant::now();
        let list = world.ask("resources/list", json!({})).await;
        took.push(began.elapsed());
        assert_eq!(addresses(&list), ["other+file:///a"]);
    }
    assert!(took.iter().all(|took| *took < LONG), "{took:?}");
    receive(&mut world, "notifications/resources/list_changed").await;
    assert_eq!(addresses(&world.ask("resources/list", json!({})).await), ["ev+file:///a", "other+file:///a"]);
    world.gateway.stop();
}
