//! Concurrent calls, cancelled calls, and processes that are left.

use std::path::Path;
use std::time::{Duration, Instant};

use failwell_gateway::Endpoint;
use serde_json::json;

use crate::client::{GatewayClient, evil, evil_with, failed, text};

#[tokio::test(flavor = "multi_thread")]
async fn twenty_slow_calls_take_as_long_as_one() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    world.call("ev__echo", json!({})).await;
    let start = Instant::now();
    for _ in 0..20 {
        world.start("tools/call", json!({"name": "ev__slow", "arguments": {"ms": 500}})).await;
    }
    for _ in 0..20 {
        assert_eq!(text(&world.hear().await), "slept");
    }
    // In sequence they would take ten seconds.
    assert!(start.elapsed() < Duration::from_secs(7), "{:?}", start.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_is_silent_and_the_upstream_hears_of_it() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    world.call("ev__echo", json!({})).await;
    let (started, pause) = (Instant::now(), Duration::from_secs(5));
    let slow = json!({"name": "ev__slow", "arguments": {"ms": pause.as_millis()}});
    let slow = world.start("tools/call", slow).await;
    assert_eq!(text(&world.call("ev__echo", json!({"at": "once"})).await), r#"{"at":"once"}"#);
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": slow}});
    world.send(&cancel).await;
    let waiting = async {
        loop {
            if text(&world.call("ev__cancelled", json!({})).await) == "1" {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waiting).await.expect("the upstream saw the cancel");
    tokio::time::sleep((pause + Duration::from_millis(200)).saturating_sub(started.elapsed())).await;
    world.call("ev__echo", json!({})).await;
    assert!(!world.transcript.contains("slept"), "a cancelled call was answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_leaves_the_upstream_alive_and_informed() {
    let mut settings = evil();
    settings.timeout = Duration::from_secs(3);
    let mut world = GatewayClient::new(vec![settings]).await;
    world.call("ev__hang", json!({})).await;
    assert_eq!(
        text(&world.call("ev__cancelled", json!({})).await),
        "1",
        "told, and the same process answers"
    );
}

/// A stopped process keeps its pipes open, so every later call would time out.
#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_says_nothing_any_more_is_replaced() {
    for era in ["session", "modern"] {
        let mut settings = evil();
        settings.timeout = Duration::from_secs(1);
        if let Endpoint::Child { environment, .. } = &mut settings.endpoint {
            environment.push(("EVIL_ERA".to_owned(), failwell_fault::Secret::new(era.to_owned())));
        }
        let mut world = GatewayClient::new(vec![settings]).await;
        let frozen = world.call("ev__freeze", json!({})).await;
        assert_eq!(frozen["error"]["data"]["reason"], "gateway/UPSTREAM_TIMEOUT", "{frozen}");
        let revived = async { while world.call("ev__echo", json!({})).await["result"].is_null() {} };
        tokio::time::timeout(Duration::from_secs(60), revived).await.expect("another takes its place");
        world.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_gets_only_the_environment_it_is_given() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    let answer = world.call("ev__environment", json!({})).await;
    let mut names: Vec<&str> = text(&answer).split(' ').collect();
    names.sort_unstable();
    assert_eq!(names, ["MODE", "PATH"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_an_upstream_started_outlives_it() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    let answer = world.call("ev__spawn", json!({})).await;
    let grandchild = Path::new("/proc").join(text(&answer));
    assert!(grandchild.exists());
    world.gateway.stop();
    let gone = async {
        while grandchild.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the grandchild is gone");
}

/// Whether a process is gone before long.
async fn is_gone(pid: &str) -> bool {
    for _ in 0..1_500 {
        if !Path::new("/proc").join(pid).exists() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_upstream_is_stopped_and_started_again_when_needed() {
    let mut settings = evil();
    settings.idle_stop = Some(Duration::from_millis(600));
    let mut world = GatewayClient::new(vec![settings]).await;
    let first = text(&world.call("ev__pid", json!({})).await).to_owned();
    // A running call that takes longer is not idle time.
    let slow = world.call("ev__late", json!({"ms": 1_500})).await;
    assert_eq!(text(&slow), r#"{"ms":1500}"#);
    assert!(is_gone(&first).await, "it is stopped");
    let second = text(&world.call("ev__pid", json!({})).await).to_owned();
    assert_ne!(first, second);
    assert!(!world.journal().contains("UPSTREAM"), "nothing failed: {}", world.journal());
}

#[tokio::test(flavor = "multi_thread")]
async fn restarts_have_a_budget_and_the_circuit_closes_again() {
    let mut settings = evil();
    settings.restart = failwell_gateway::RestartBudget { budget: 2, window: Duration::from_secs(10) };
    let mut world = GatewayClient::new(vec![settings]).await;
    for _ in 0..3 {
        let crashed = world.call("ev__crash", json!({})).await;
        assert_eq!(failed(&crashed), (-32004, "gateway/UPSTREAM_CRASHED"));
    }
    let open = world.call("ev__echo", json!({})).await;
    assert_eq!(failed(&open), (-32004, "gateway/CIRCUIT_OPEN"));
    assert_eq!(open["error"]["data"]["effect"], "none", "{open}");
    let wait = open["error"]["data"]["retry_after_ms"].as_u64().expect("a wait");
    assert!(wait <= 10_000, "{open}");
    tokio::time::sleep(Duration::from_millis(wait + 50)).await;
    assert_eq!(text(&world.call("ev__echo", json!({})).await), "{}", "it is as good as its word");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_was_stopped_answers_others_when_it_goes_on() {
    let mut settings = evil();
    settings.timeout = Duration::from_secs(3);
    let mut world = GatewayClient::new(vec![settings]).await;
    let pid = text(&world.call("ev__pid", json!({})).await).to_owned();
    let late = world.call("ev__stop_myself", json!({})).await;
    assert_eq!(failed(&late), (-32004, "gateway/UPSTREAM_TIMEOUT"));
    let pid_number: i32 = pid.parse().expect("a number");
    failwell_suite::program::send(pid_number, rustix::process::Signal::CONT);
    // A late response is not matched with another request.
    assert_eq!(text(&world.call("ev__echo", json!({"n": 1})).await), r#"{"n":1}"#);
    assert_eq!(text(&world.call("ev__pid", json!({})).await), pid, "the same process");
}

/// Whether the call failed only by its time limit.
fn took_too_long(answer: &serde_json::Value) -> bool {
    answer["error"]["data"]["reason"] == "gateway/UPSTREAM_TIMEOUT"
}

/// The modern handshake times out before such a server has read it.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_takes_long_to_start_is_found_in_either_era() {
    for era in ["session", "modern"] {
        let mut world =
            GatewayClient::new(vec![evil_with(&[("EVIL_START_MS", "4500"), ("EVIL_ERA", era)])]).await;
        let mut answer = world.call("ev__echo", json!({"era": era})).await;
        // A call waits ten seconds for the tool list. On a busy machine the server may need more.
        for _ in 0..5 {
            if took_too_long(&answer) {
                answer = world.call("ev__echo", json!({"era": era})).await;
            }
        }
        assert_eq!(text(&answer), json!({"era": era}).to_string());
    }
}
