//! Calls beside each other, calls called off, and what is left behind.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{World, evil, text};

#[tokio::test(flavor = "multi_thread")]
async fn twenty_slow_calls_take_as_long_as_one() {
    let mut world = World::new(vec![evil()]).await;
    world.call("ev__echo", json!({})).await;
    let start = Instant::now();
    for _ in 0..20 {
        world.start("tools/call", json!({"name": "ev__slow", "arguments": {"ms": 200}})).await;
    }
    for _ in 0..20 {
        assert_eq!(text(&world.hear().await), "slept");
    }
    assert!(start.elapsed() < Duration::from_millis(1_500), "{:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_is_silent_and_the_upstream_hears_of_it() {
    let mut world = World::new(vec![evil()]).await;
    world.call("ev__echo", json!({})).await;
    let slow = world.start("tools/call", json!({"name": "ev__slow", "arguments": {"ms": 2_000}})).await;
    assert_eq!(text(&world.call("ev__echo", json!({"at": "once"})).await), r#"{"at":"once"}"#);
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}});
    world.send(&cancel).await;
    let heard = async {
        loop {
            if text(&world.call("ev__cancelled", json!({})).await) == "1" {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(5), heard).await.expect("the upstream saw the cancel");
    tokio::time::sleep(Duration::from_millis(2_200)).await;
    world.call("ev__echo", json!({})).await;
    assert!(!world.said.contains("slept"), "a cancelled call was answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_leaves_the_upstream_alive_and_informed() {
    let mut settings = evil();
    settings.timeout = Duration::from_millis(500);
    let mut world = World::new(vec![settings]).await;
    world.call("ev__hang", json!({})).await;
    assert_eq!(
        text(&world.call("ev__cancelled", json!({})).await),
        "1",
        "told, and the same process answers"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_gets_only_the_environment_it_is_given() {
    let mut world = World::new(vec![evil()]).await;
    let answer = world.call("ev__environment", json!({})).await;
    let mut names: Vec<&str> = text(&answer).split(' ').collect();
    names.sort_unstable();
    assert_eq!(names, ["MODE", "PATH"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_an_upstream_started_outlives_it() {
    let mut world = World::new(vec![evil()]).await;
    let answer = world.call("ev__spawn", json!({})).await;
    let grandchild = Path::new("/proc").join(text(&answer));
    assert!(grandchild.exists());
    world.gateway.stop();
    let gone = async {
        while grandchild.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.expect("the grandchild is gone");
}
