//! Upstreams that are added, removed and changed during calls.

use std::path::Path;
use std::time::Duration;

use failwell_fault::Secret;
use failwell_gateway::{Endpoint, UpstreamSettings};
use failwell_suite::program::Folder;
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil, failed, text};

fn named(name: &str) -> UpstreamSettings {
    UpstreamSettings { name: name.to_owned(), ..evil() }
}

/// The same server with another variable in its environment.
fn marked(mark: &str) -> UpstreamSettings {
    let mut settings = evil();
    if let Endpoint::Child { environment, .. } = &mut settings.endpoint {
        environment.push((mark.to_owned(), Secret::new("x".to_owned())));
    }
    settings
}

async fn gone(process: &Path) {
    let gone = async {
        while process.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("it is ended");
}

/// Makes the server log its messages, so that a test can wait for one.
fn listening(mut settings: UpstreamSettings, folder: &Folder) -> UpstreamSettings {
    if let Endpoint::Child { environment, .. } = &mut settings.endpoint {
        let log = folder.path().join("heard").display().to_string();
        environment.push(("EVIL_LOG".to_owned(), Secret::new(log)));
    }
    settings
}

async fn until_received(wanted: &str, folder: &Folder) {
    let log = folder.path().join("heard");
    let waiting = async {
        while !std::fs::read_to_string(&log).is_ok_and(|text| text.lines().any(|line| line == wanted)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("the upstream hears of the call");
}

/// The response to one of several pending requests.
async fn answer(world: &mut GatewayClient, id: u64) -> Value {
    loop {
        let message = world.hear().await;
        if message["id"] == id {
            return message;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_did_not_change_is_left_alone_and_what_went_is_ended() {
    let mut world = GatewayClient::new(vec![evil(), named("other")]).await;
    let unchanged = Path::new("/proc").join(text(&world.call("ev__spawn", json!({})).await));
    let ended = Path::new("/proc").join(text(&world.call("other__spawn", json!({})).await));
    let reloaded = world.gateway.reload(vec![named("new"), evil()], Vec::new());
    assert_eq!(
        (reloaded.added, reloaded.removed, reloaded.unchanged),
        (vec!["new".into()], vec!["other".into()], vec!["ev".into()])
    );
    gone(&ended).await;
    assert!(unchanged.exists(), "it was not even asked");
    assert_eq!(failed(&world.call("other__echo", json!({})).await).1, "mcp/UNKNOWN_TOOL");
    assert_eq!(text(&world.call("new__echo", json!({})).await), "{}");
    world.nothing_leaked();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_ends_where_it_began() {
    let folder = Folder::create();
    let mut world = GatewayClient::new(vec![listening(evil(), &folder)]).await;
    let old = Path::new("/proc").join(text(&world.call("ev__spawn", json!({})).await));
    let slow = world.start("tools/call", json!({"name": "ev__slow", "arguments": {"ms": 6_000}})).await;
    until_received("tools/call slow", &folder).await;
    let reloaded = world.gateway.reload(vec![marked("MARK")], Vec::new());
    world.gateway.announce(&reloaded);
    assert_eq!(reloaded.changed, ["ev"]);
    assert!(text(&world.call("ev__environment", json!({})).await).contains("MARK"), "the new one answers");
    assert!(world.transcript.contains("notifications/tools/list_changed"), "{}", world.transcript);
    assert!(!world.transcript.contains("slept") && old.exists(), "the old one still works");
    assert_eq!(text(&answer(&mut world, slow).await), "slept");
    gone(&old).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_never_answers_does_not_hold_up_its_end() {
    let mut settings = evil();
    (settings.timeout, settings.start_timeout) = (Duration::from_secs(4), Duration::from_secs(4));
    let folder = Folder::create();
    let mut world = GatewayClient::new(vec![listening(settings, &folder)]).await;
    let old = Path::new("/proc").join(text(&world.call("ev__spawn", json!({})).await));
    let hang = world.start("tools/call", json!({"name": "ev__hang", "arguments": {}})).await;
    until_received("tools/call hang", &folder).await;
    world.gateway.reload(Vec::new(), Vec::new());
    assert_eq!(failed(&answer(&mut world, hang).await).1, "gateway/UPSTREAM_TIMEOUT");
    gone(&old).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reloads_in_a_row_under_load_lose_no_answer() {
    let mut world = GatewayClient::new(vec![evil(), named("other")]).await;
    world.call("ev__echo", json!({})).await;
    let mut open = Vec::new();
    for round in 0..20 {
        for tool in ["ev__echo", "other__echo"] {
            let params = json!({"name": tool, "arguments": {"round": round}});
            open.push(world.start("tools/call", params).await);
        }
        world.gateway.reload(vec![marked(&format!("ROUND_{}", round % 3)), named("other")], Vec::new());
    }
    let mut answered = Vec::new();
    while answered.len() < open.len() {
        let message = world.hear().await;
        if let Some(id) = message["id"].as_u64() {
            assert!(text(&message).contains("round"), "{message}");
            answered.push(id);
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, open, "every one once");
}
