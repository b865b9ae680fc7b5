//! Subscriptions to resources, and their end.

use std::path::Path;
use std::time::Duration;

use failwell_rpc::Era;
use failwell_suite::program::Folder;
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil_with, failed, text};
use crate::script::{ConnectionAction, Script, introduced, raw, response};

/// More than the queue of one connection holds.
const OFTEN: usize = 4_200;
/// The most subscriptions of one connection.
const MOST: usize = 1_000;
const LISTEN: &str = "subscriptions/listen";
const ENDED: &str = "notifications/cancelled of subscriptions/listen";

async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never: {what}");
}

/// How often a child process received this method.
fn count_received(log: &Path, wanted: &str) -> usize {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    log.lines().filter(|line| *line == wanted).count()
}

/// Subscribes, and returns the id of the request.
async fn subscribe(world: &mut GatewayClient, uris: &[String]) -> u64 {
    let id = world.start(LISTEN, json!({"notifications": {"resourceSubscriptions": uris}})).await;
    let acknowledged = world.hear().await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    id
}

async fn end(world: &mut GatewayClient, subscription: u64) {
    let params = json!({"requestId": subscription});
    world.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_subscriptions_that_end_leave_room_for_others() {
    let folder = Folder::create();
    let log = folder.path().join("log");
    let path = log.to_str().expect("UTF-8");
    let mut first = GatewayClient::new(vec![evil_with(&[("EVIL_ERA", "modern"), ("EVIL_LOG", path)])]).await;
    let mut second = first.at_reference(Era::Session).await;
    let uri = json!({"uri": "ev+file:///a"});
    for _ in 0..OFTEN {
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            let answer = first.ask(method, uri.clone()).await;
            assert!(answer["error"].is_null(), "{answer}");
        }
    }
    assert_eq!(text(&second.call("ev__echo", json!({})).await), "{}");
    until("every one is ended", || count_received(&log, ENDED) == OFTEN).await;
    assert_eq!(count_received(&log, LISTEN), OFTEN + 1, "and one for the lists");
    first.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_subscription_watches_is_given_back_when_it_ends() {
    let folder = Folder::create();
    let log = folder.path().join("log");
    let path = log.to_str().expect("UTF-8");
    let settings = evil_with(&[("EVIL_ERA", "modern"), ("EVIL_LOG", path)]);
    let mut world = GatewayClient::of(Era::Modern, vec![settings]).await;
    let many: Vec<String> = (0..MOST).map(|n| format!("ev+x://{n}")).collect();
    let first = subscribe(&mut world, &many).await;
    until("all are watched", || count_received(&log, LISTEN) == MOST + 1).await;
    // A subscription that exists already needs no request to the upstream. A further one exceeds the limit.
    let second = subscribe(&mut world, &many[..1]).await;
    let mut other = world.at_reference(Era::Modern).await;
    let wanted = json!({"notifications": {"resourceSubscriptions": ["ev+x://one-more"]}});
    let refused = other.ask(LISTEN, wanted).await;
    assert_eq!(failed(&refused).1, "server/BUSY", "{refused}");
    end(&mut world, first).await;
    until("all but one are given back", || count_received(&log, ENDED) == MOST - 1).await;
    subscribe(&mut other, &["ev+x://one-more".to_owned()]).await;
    until("one more is watched", || count_received(&log, LISTEN) == MOST + 2).await;
    end(&mut world, second).await;
    until("the last is given back", || count_received(&log, ENDED) == MOST).await;
    other.leave().await;
    until("whoever leaves gives back too", || count_received(&log, ENDED) == MOST + 1).await;
    world.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn over_http_too_what_a_subscription_watches_is_given_back() {
    let script = Script::new(|seen| match seen.method() {
        LISTEN => raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", ConnectionAction::Hang),
        _ => introduced(Era::Modern, seen).unwrap_or_else(|| response(500, "", "")),
    })
    .await;
    let mut world = GatewayClient::of(Era::Modern, vec![script.settings("up")]).await;
    let watched = || {
        let last = script.seen().into_iter().rfind(|seen| seen.method() == LISTEN);
        last.map_or(Value::Null, |seen| seen.body["params"]["notifications"]["resourceSubscriptions"].clone())
    };
    let both = subscribe(&mut world, &["up+x://a".to_owned(), "up+x://b".to_owned()]).await;
    until("both are watched", || watched() == json!(["x://a", "x://b"])).await;
    let one = subscribe(&mut world, &["up+x://a".to_owned()]).await;
    end(&mut world, both).await;
    until("one is still watched", || watched() == json!(["x://a"])).await;
    end(&mut world, one).await;
    until("none is watched", || watched() == json!([])).await;
    world.gateway.stop();
}
