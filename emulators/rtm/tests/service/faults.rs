//! Injected faults and the rate limit.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use failwell_emulator_rtm::{Fault, FaultKind, Options, Rate, Seed};
use serde_json::Value;

use crate::support::{Client, start, start_with};

async fn add(client: &Client, name: &str) -> std::io::Result<failwell_emulator_http::RawReply> {
    let arguments = [
        ("format", "json"),
        ("v", "2"),
        ("auth_token", &client.token),
        ("timeline", &client.timeline),
        ("name", name),
    ];
    client.raw("rtm.tasks.add", &arguments).await
}

fn count(client: &Client) -> usize {
    client.control.dump()["taskseries"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_burst_of_503_then_all_is_well() {
    let client = start(Seed::empty()).await;
    client.control.fail(Fault::new(FaultKind::Unavailable).on("rtm.tasks.*").times(2));
    for _ in 0..2 {
        let reply = add(&client, "x").await.unwrap();
        assert_eq!(reply.status, 503);
        assert!(
            reply.head.contains("text/html") && reply.body.starts_with("<!DOCTYPE html>"),
            "{}",
            reply.body
        );
    }
    assert_eq!(count(&client), 0);
    assert_eq!(add(&client, "x").await.unwrap().status, 200);
    let outcomes: Vec<(String, bool)> =
        client.control.calls().into_iter().map(|call| (call.outcome, call.committed)).collect();
    let expected = [("ok", true), ("503", false), ("503", false), ("ok", true)];
    assert_eq!(outcomes, expected.map(|(outcome, committed)| (outcome.to_owned(), committed)));
}

#[tokio::test]
async fn before_and_after_the_commit() {
    let client = start(Seed::empty()).await;
    for (kind, label) in [
        (FaultKind::Reset, "reset"),
        (FaultKind::Html, "html"),
        (FaultKind::Status { status: 502 }, "502"),
        (FaultKind::Refuse { code: 105, message: String::new() }, "105"),
    ] {
        let there = count(&client);
        client.control.fail(Fault::new(kind.clone()).times(1));
        let before = add(&client, "x").await;
        assert_eq!(count(&client), there, "{label} before");
        client.control.fail(Fault::new(kind).times(1).after());
        let after = add(&client, "x").await;
        assert_eq!(count(&client), there + 1, "{label} after");
        for reply in [before, after] {
            match (label, reply) {
                ("reset", reply) => assert_eq!(reply.err().unwrap().kind(), ErrorKind::ConnectionReset),
                ("105", reply) => assert!(reply.unwrap().body.contains("\"code\":\"105\"")),
                ("502", reply) => assert_eq!(reply.unwrap().status, 502),
                (_, reply) => {
                    let reply = reply.unwrap();
                    assert_eq!((reply.status, reply.body.contains("<html")), (200, true));
                }
            }
        }
        let calls = client.control.calls();
        let last: Vec<_> =
            calls.iter().rev().take(2).map(|call| (call.outcome.as_str(), call.committed)).collect();
        assert_eq!(last, [(label, true), (label, false)]);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off() {
    let client = start(Seed::empty()).await;
    client.control.fail(Fault::new(FaultKind::Truncate).times(1));
    assert!(add(&client, "x").await.is_err());
    assert_eq!(count(&client), 1);
}

#[tokio::test]
async fn late_and_slow_answers() {
    let client = start(Seed::empty()).await;
    for kind in [FaultKind::Delay { milliseconds: 300 }, FaultKind::SlowBody { milliseconds: 300 }] {
        client.control.fail(Fault::new(kind.clone()).times(1));
        let begun = Instant::now();
        let reply = add(&client, "x").await.unwrap();
        assert!(begun.elapsed() >= Duration::from_millis(290), "{kind:?} {:?}", begun.elapsed());
        assert!(serde_json::from_str::<Value>(&reply.body).is_ok(), "{kind:?}: {}", reply.body);
    }
}

#[tokio::test]
async fn bent_shapes() {
    let client = start(Seed::empty()).await;
    client.control.fail(Fault::new(FaultKind::Flip).times(1));
    let answer = client.ok("rtm.tasks.add", &[("name", "x")]).await;
    assert!(answer["list"].is_array(), "{answer}");
    assert!(answer["list"][0]["taskseries"].is_object(), "{answer}");
    client.control.fail(Fault::new(FaultKind::UnknownFields).times(1));
    let answer = client.ok("rtm.tasks.add", &[("name", "x")]).await;
    assert_eq!(answer["list"]["taskseries"][0]["x_new"], "something new");
}

#[tokio::test]
async fn faults_strike_the_methods_they_are_for() {
    let client = start(Seed::empty()).await;
    client.control.fail(Fault::new(FaultKind::Refuse { code: 105, message: String::new() }).on("*.getList"));
    assert_eq!(client.refused("rtm.lists.getList", &[]).await, "105");
    client.ok("rtm.tasks.add", &[("name", "x")]).await;
    assert_eq!(client.refused("rtm.tasks.getList", &[]).await, "105");
    client.control.clear_faults();
    client.ok("rtm.tasks.getList", &[]).await;
}

/// One a second, three at once; the fourth and fifth wait, the others are turned away.
#[tokio::test]
async fn the_rate_is_limited() {
    let options = Options { rate: Some(Rate::default()), ..Options::default() };
    let client = start_with(options).await;
    let asked = || client.raw("rtm.test.echo", &[("format", "json")]);
    // At once they are only on a machine that does not stop in between: it may try three times.
    for attempt in 1..=3 {
        client.control.set_rate(Some(Rate::default()));
        client.control.clear_calls();
        let begun = Instant::now();
        let (a, b, c, d, e, f, g) =
            tokio::join!(asked(), asked(), asked(), asked(), asked(), asked(), asked());
        let mut statuses: Vec<u16> = [a, b, c, d, e, f, g].map(|reply| reply.unwrap().status).to_vec();
        statuses.sort_unstable();
        let held: Vec<u64> = client
            .control
            .calls()
            .iter()
            .filter(|call| call.outcome == "ok")
            .map(|call| call.held_back.as_secs_f64().round() as u64)
            .collect();
        let is_so = statuses == [200, 200, 200, 200, 200, 503, 503] && held == [0, 0, 0, 1, 2];
        if !is_so && attempt < 3 {
            continue;
        }
        assert!(is_so, "{statuses:?} {held:?}");
        assert!(begun.elapsed() >= Duration::from_millis(1_800), "{:?}", begun.elapsed());
        break;
    }
    client.control.set_rate(None);
    for _ in 0..20 {
        assert_eq!(asked().await.unwrap().status, 200);
    }
}

#[tokio::test]
async fn bodies_have_a_bound() {
    let client = start(Seed::empty()).await;
    let large = "x".repeat((4 << 20) + 1);
    // The answer may come before all was sent, and the connection be gone then.
    if let Ok(reply) = client.send("POST", "/services/rest/", &large).await {
        assert_eq!(reply.status, 413);
    }
    assert_eq!(client.send("GET", "/nowhere", "").await.unwrap().status, 404);
    assert_eq!(client.send("GET", "/", "").await.unwrap().status, 200);
}
