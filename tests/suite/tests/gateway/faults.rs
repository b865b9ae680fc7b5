//! What an upstream does wrong, and the one answer its caller gets.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{SECRETS, World, evil, failed, text};

/// A tool, the reason its caller is given, and the effect it is told.
const CASES: &[(&str, &str, &str)] = &[
    ("crash", "gateway/UPSTREAM_CRASHED", "unknown"),
    ("kill", "gateway/UPSTREAM_CRASHED", "unknown"),
    ("half_line", "gateway/UPSTREAM_CRASHED", "unknown"),
    ("wrong_id", "gateway/UPSTREAM_GARBLED", "unknown"),
    ("null_result", "gateway/UPSTREAM_GARBLED", "unknown"),
    ("both", "gateway/UPSTREAM_GARBLED", "unknown"),
    ("nasty", "gateway/UPSTREAM_ERROR", "unknown"),
    ("hang", "gateway/UPSTREAM_TIMEOUT", "unknown"),
    ("neither", "gateway/UPSTREAM_TIMEOUT", "unknown"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_misbehaviour_is_one_answer_and_the_next_call_works() {
    let mut settings = evil();
    settings.timeout = Duration::from_secs(1);
    settings.restart.budget = 20;
    let mut world = World::new(vec![settings]).await;
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
        assert!(journal.contains(secret), "{secret} is missing in the operator's log");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_is_told_at_once_with_how_it_ended() {
    let mut world = World::new(vec![evil()]).await;
    world.call("ev__echo", json!({})).await;
    let start = Instant::now();
    let answer = world.call("ev__crash", json!({})).await;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(answer["error"]["data"]["facts"]["exit_code"], 7);
    let answer = world.call("ev__kill", json!({})).await;
    assert_eq!(answer["error"]["data"]["facts"]["signal"], "SIGABRT");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_cannot_start_is_down_and_then_rests() {
    let mut settings = evil();
    if let failwell_gateway::Reach::Child { program, .. } = &mut settings.reach {
        *program = "/nonexistent/server".into();
    }
    let mut world = World::new(vec![settings, UpstreamNamed("ok").settings()]).await;
    let answer = world.call("ev__echo", json!({})).await;
    assert_eq!(failed(&answer), (-32004, "gateway/UPSTREAM_DOWN"));
    assert_eq!(answer["error"]["data"]["effect"], "none", "it never left");
    let answer = world.call("ev__echo", json!({})).await;
    assert_eq!(failed(&answer), (-32004, "gateway/CIRCUIT_OPEN"));
    assert!(answer["error"]["data"]["retry_after_ms"].as_u64().is_some(), "{answer}");
    // The dead one neither sinks the list nor hides in it.
    let list = world.ask("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["name"] == "ok__echo"), "{list}");
    assert_eq!(list["result"]["_meta"]["dev.failwell/unreachable"][0]["server"], "ev");
}

pub(crate) struct UpstreamNamed(pub(crate) &'static str);

impl UpstreamNamed {
    pub(crate) fn settings(&self) -> failwell_gateway::UpstreamSettings {
        let mut settings = evil();
        settings.name = self.0.to_owned();
        settings
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn noise_floods_and_large_answers_do_no_harm() {
    let mut world = World::new(vec![evil()]).await;
    assert_eq!(text(&world.call("ev__noise", json!({})).await), "after the noise");
    assert_eq!(text(&world.call("ev__flood", json!({})).await), "flooded");
    for bytes in [70_000, 10_000_000] {
        let answer = world.call("ev__big", json!({"bytes": bytes})).await;
        assert_eq!(text(&answer).len(), bytes);
        world.said.clear();
    }
    let failing: Value = world.call("ev__is_error", json!({})).await;
    assert_eq!((text(&failing), &failing["result"]["isError"]), ("the disk is full", &json!(true)));
    world.nothing_leaked();
}
