//! Faults of an HTTP upstream, and the single response that the caller gets.

use std::time::{Duration, Instant};

use failwell_rpc::Era;
use serde_json::{Value, json};

use super::lifecycle::unused_address;
use crate::client::GatewayClient;
use crate::script::cases::{JSON, POISON, answer_with, cases, poisoned_error};
use crate::script::{ConnectionAction, ReceivedRequest, Script, ScriptedResponse, raw, response, settings};

async fn every_case(era: Era) {
    for case in cases() {
        let answer = case.answer;
        let script = Script::upstream(era, move |seen| {
            if seen.body["params"]["arguments"]["bad"] == true {
                return answer(seen);
            }
            let content = json!([{"type": "text", "text": "fine"}]);
            answer_with(seen, "result", &json!({"resultType": "complete", "content": content}))
        })
        .await;
        let mut settings = script.settings("up");
        settings.timeout = Duration::from_secs(3);
        settings.largest_message = 100_000;
        let mut world = GatewayClient::new(vec![settings]).await;
        let failed = world.call("up__t", json!({"bad": true})).await;
        let data = &failed["error"]["data"];
        assert_eq!(data["reason"], case.reason, "{} in {era:?}: {failed}", case.name);
        assert_eq!(failed["error"]["code"], -32004, "{}: {failed}", case.name);
        assert_eq!(data["effect"], case.effect, "{} in {era:?}: {failed}", case.name);
        assert_eq!(data["origin"], "upstream", "{}", case.name);
        let (retry, after) = case.retry();
        assert_eq!(
            (data["retry"].as_str(), data["retry_after_ms"].as_u64()),
            (Some(retry), after),
            "{}",
            case.name
        );
        let facts = if case.facts == json!({}) { Value::Null } else { case.facts };
        assert_eq!(data["facts"], facts, "{} in {era:?}: {failed}", case.name);
        assert_eq!(script.count("tools/call"), 1, "{}: sent once", case.name);
        let next = world.call("up__t", json!({})).await;
        assert_eq!(crate::client::text(&next), "fine", "after {} in {era:?}", case.name);
        world.nothing_leaked();
        world.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_bad_answer_of_a_session_upstream_is_one_fault() {
    every_case(Era::Session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_bad_answer_of_a_modern_upstream_is_one_fault() {
    every_case(Era::Modern).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_reads_what_the_caller_may_not() {
    for answer in [
        (|_: &ReceivedRequest| response(500, "Content-Type: text/html\r\n", POISON))
            as fn(&ReceivedRequest) -> ScriptedResponse,
        |_| response(401, "", POISON),
        |_| response(200, JSON, POISON),
        |seen| answer_with(seen, "error", &poisoned_error()),
    ] {
        let script = Script::upstream(Era::Session, answer).await;
        let mut world = GatewayClient::new(vec![script.settings("up")]).await;
        world.call("up__t", json!({})).await;
        world.nothing_leaked();
        assert!(!world.transcript.contains("s3cret"), "nor our own credentials");
        let journal = world.journal();
        assert!(journal.contains("hunter2"), "{journal}");
        assert!(!journal.contains("s3cret"), "our own credentials are for nobody: {journal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_the_upstream_asks_for_is_passed_on() {
    let date = "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n";
    for (status, header, wait) in
        [(429, "Retry-After: 3\r\n", 3_000), (503, "Retry-After: 7\r\n", 7_000), (429, date, 0)]
    {
        let script = Script::upstream(Era::Session, move |_| response(status, header, "")).await;
        let mut world = GatewayClient::new(vec![script.settings("up")]).await;
        let failed = world.call("up__t", json!({})).await;
        assert_eq!(failed["error"]["data"]["retry_after_ms"], wait, "{failed}");
    }
}

/// Faults during the handshake with an upstream do not change the effect of the caller's request.
#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_does_not_let_us_in_is_down_and_then_rests() {
    for (status, header) in [(401, ""), (403, ""), (500, ""), (503, ""), (429, "Retry-After: 2\r\n")] {
        let script = Script::new(move |_| response(status, header, POISON)).await;
        let mut world = GatewayClient::new(vec![script.settings("up")]).await;
        let failed = world.call("up__t", json!({})).await;
        let data = &failed["error"]["data"];
        assert_eq!(
            (&data["reason"], &data["effect"]),
            (&json!("gateway/UPSTREAM_DOWN"), &json!("none")),
            "{failed}"
        );
        assert_eq!(data["facts"]["status"], status, "{failed}");
        assert_eq!(script.count("initialize"), 0, "{status} says nothing about the era");
        let mut seen = script.seen().len();
        assert_eq!(seen, 1, "{status} is asked once");
        for _ in 0..10 {
            let again = world.call("up__t", json!({})).await;
            if again["error"]["data"]["reason"] == "gateway/CIRCUIT_OPEN" {
                assert_eq!(script.seen().len(), seen, "it is left alone while it rests");
                seen = 0;
                break;
            }
            seen = script.seen().len();
        }
        assert_eq!(seen, 0, "{status}: it never rests");
        world.nothing_leaked();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_connection_is_down_without_effect() {
    let gone = Script::new(|_| response(500, "", "")).await;
    let address = gone.address;
    drop(gone);
    unused_address(address).await;
    let plain = Script::new(|_| raw("not TLS at all", ConnectionAction::Close)).await;
    let mut encrypted = plain.settings("up");
    // A name too long to be looked up anywhere.
    let mut unknown = plain.settings("up");
    for (settings, url) in [
        (&mut encrypted, format!("https://{}/mcp", plain.address)),
        (&mut unknown, format!("http://{}.invalid/mcp", "x".repeat(70))),
    ] {
        settings.endpoint = failwell_gateway::Endpoint::Http { url, headers: Vec::new() };
    }
    for settings in [settings("up", address), encrypted, unknown] {
        let mut world = GatewayClient::new(vec![settings]).await;
        let start = Instant::now();
        let failed = world.call("up__t", json!({})).await;
        assert!(start.elapsed() < Duration::from_secs(25), "before any time is up: {:?}", start.elapsed());
        let data = &failed["error"]["data"];
        assert_eq!(data["reason"], "gateway/UPSTREAM_DOWN", "{failed}");
        assert_eq!(data["effect"], "none", "{failed}");
        assert!(
            !world.transcript.contains("os error") && !world.transcript.contains("invalid/mcp"),
            "{}",
            world.transcript
        );
        world.call_until_it_rests("up__t").await;
    }
}
