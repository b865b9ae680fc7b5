//! Faults of an upstream, and the single response that the caller gets.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{GatewayClient, SECRETS, evil, failed, text};

/// A tool, and the expected reason and effect.
const CASES: &[(&str, &str, &str)] = &[
    ("crash", "gateway/UPSTREAM_CRASHED", "unknown"),
    ("kill", "gateway/UPSTREAM_CRASHED", "unknown"),
    ("half_line", "gateway/UPSTREAM_CRASHED", "unknown"),
    ("wrong_id", "gateway/UPSTREAM_GARBLED", "unknown"),
    ("null_result", "gateway/UPSTREAM_GARBLED", "unknown"),
    ("both", "gateway/UPSTREAM_GARBLED", "unknown"),
    ("nasty", "gateway/UPSTREAM_ERROR", "unknown"),
    ("neither", "gateway/UPSTREAM_GARBLED", "unknown"),
    ("hang", "gateway/UPSTREAM_TIMEOUT", "unknown"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_misbehaviour_is_one_answer_and_the_next_call_works() {
    let mut settings = evil();
    settings.timeout = Duration::from_secs(3);
    settings.restart.budget = 20;
    let mut world = GatewayClient::new(vec![settings]).await;
    for (tool, reason, effect) in CASES {
        let answer = world.call(&format!("ev__{tool}"), json!({})).await;
        assert_eq!(failed(&answer), (-32004, *reason), "{tool}");
        assert_eq!(answer["error"]["data"]["effect"], *effect, "{tool}");
        assert_eq!(answer["error"]["data"]["origin"], "upstream", "{tool}");
        let next = world.call("ev__echo", json!({"after": tool})).await;
        assert_eq!(text(&next), json!({"after": tool}).to_string(), "after {tool}");
    }
    world.nothing_leaked();
    let journal = world.journal();
    for secret in SECRETS {
        // A text in the format of a secret is redacted in the journal, too. The text around it is not.
        let by_shape = matches!(secret, "hunter2" | "ghp_");
        assert_eq!(journal.contains(secret), !by_shape, "{secret} in the operator's log");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_reported_at_once_with_its_exit() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    world.call("ev__echo", json!({})).await;
    let start = Instant::now();
    let answer = world.call("ev__crash", json!({})).await;
    assert!(start.elapsed() < Duration::from_secs(10), "long before the time is up: {:?}", start.elapsed());
    assert_eq!(answer["error"]["data"]["facts"]["exit_code"], 7);
    let answer = world.call("ev__kill", json!({})).await;
    assert_eq!(answer["error"]["data"]["facts"]["signal"], "SIGABRT");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_cannot_start_is_down_and_then_rests() {
    let mut settings = evil();
    if let failwell_gateway::Endpoint::Child { program, .. } = &mut settings.endpoint {
        *program = "/nonexistent/server".into();
    }
    let mut world = GatewayClient::new(vec![settings, EvilUpstream("ok").settings()]).await;
    let answer = world.call("ev__echo", json!({})).await;
    assert_eq!(failed(&answer), (-32004, "gateway/UPSTREAM_DOWN"));
    assert_eq!(answer["error"]["data"]["effect"], "none", "it never left");
    let answer = world.call_until_it_rests("ev__echo").await;
    assert_eq!(failed(&answer), (-32004, "gateway/CIRCUIT_OPEN"));
    assert!(answer["error"]["data"]["retry_after_ms"].as_u64().is_some(), "{answer}");
    // The list is returned without the tools of the dead upstream, and names it as missing.
    let list = world.ask("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["name"] == "ok__echo"), "{list}");
    assert_eq!(list["result"]["_meta"]["dev.failwell/unreachable"][0]["server"], "ev");
}

pub(crate) struct EvilUpstream(pub(crate) &'static str);

impl EvilUpstream {
    pub(crate) fn settings(&self) -> failwell_gateway::UpstreamSettings {
        let mut settings = evil();
        settings.name = self.0.to_owned();
        settings
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn noise_floods_and_large_answers_do_no_harm() {
    let mut world = GatewayClient::new(vec![evil()]).await;
    assert_eq!(text(&world.call("ev__noise", json!({})).await), "after the noise");
    assert_eq!(text(&world.call("ev__flood", json!({})).await), "flooded");
    for bytes in [70_000, 10_000_000] {
        let answer = world.call("ev__big", json!({"bytes": bytes})).await;
        assert_eq!(text(&answer).len(), bytes);
        world.transcript.clear();
    }
    let failing: Value = world.call("ev__is_error", json!({})).await;
    assert_eq!((text(&failing), &failing["result"]["isError"]), ("the disk is full", &json!(true)));
    world.nothing_leaked();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_past_the_limit_is_reported_at_once() {
    let mut settings = evil();
    settings.timeout = Duration::from_secs(60);
    settings.largest_message = 100_000;
    let mut world = GatewayClient::new(vec![settings]).await;
    let answer = world.call("ev__big", json!({"bytes": 200_000})).await;
    assert_eq!(failed(&answer), (-32004, "gateway/UPSTREAM_GARBLED"));
    assert_eq!(answer["error"]["data"]["facts"]["limit"], 100_000, "{answer}");
    assert_eq!(text(&world.call("ev__echo", json!({"x": 1})).await), r#"{"x":1}"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_right_before_the_end_counts() {
    let mut settings = evil();
    settings.restart.budget = 100;
    let mut world = GatewayClient::new(vec![settings]).await;
    for n in 0..30 {
        let answer = world.call("ev__last_words", json!({"n": n})).await;
        assert_eq!(text(&answer), json!({"n": n}).to_string());
        // A call before the gateway has noticed the exit goes to the exiting process, which cannot answer.
        while world.call("ev__echo", json!({})).await["result"].is_null() {}
    }
}

/// A pipe holds 64 KB, and the queue before it 256 messages. A further call waits without having been sent.
#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_reads_nothing_more_is_replaced() {
    let mut settings = evil();
    settings.timeout = Duration::from_secs(6);
    let mut world = GatewayClient::new(vec![settings]).await;
    world.call("ev__deaf", json!({})).await;
    let padding = "x".repeat(4_000);
    let mut ids = std::collections::HashSet::new();
    for n in 0..400 {
        let params = json!({"name": "ev__echo", "arguments": {"n": n, "padding": padding}});
        ids.insert(world.start("tools/call", params).await);
    }
    let mut effects = std::collections::BTreeMap::new();
    while !ids.is_empty() {
        let answer = world.hear().await;
        assert!(answer["id"].as_u64().is_some_and(|id| ids.remove(&id)), "once each: {answer}");
        assert_eq!(failed(&answer), (-32004, "gateway/UPSTREAM_TIMEOUT"), "{answer}");
        *effects.entry(answer["error"]["data"]["effect"].to_string()).or_insert(0) += 1;
    }
    assert_eq!(effects.len(), 2, "some left and some did not: {effects:?}");
    let revived = async {
        loop {
            let answer = world.call("ev__echo", json!({})).await;
            if answer["result"].is_object() {
                return;
            }
            world.transcript.clear();
        }
    };
    tokio::time::timeout(Duration::from_secs(90), revived).await.expect("another takes its place");
}
