//! Injected faults.

use std::time::Duration;

use failwell_emulator_wda::{Fault, FaultKind};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{logged_in, start};

#[tokio::test]
async fn a_runner_that_dies_is_gone() {
    let client = start().await;
    let id = client.find("log-in").await;
    client.control.fail(Fault::new(FaultKind::Die).on("POST */click"));
    let cut =
        client.exchange("POST", &format!("/session/{}/element/{id}/click", client.session), &json!({})).await;
    assert!(cut.is_err(), "{cut:?}");
    timeout(Duration::from_secs(30), client.emulator.died()).await.expect("it says so");
    let until = tokio::time::Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(client.emulator.address()).await.is_ok() {
        assert!(tokio::time::Instant::now() < until, "somebody still listens");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_command_that_hangs_holds_up_no_other() {
    let client = start().await;
    client.control.fail(Fault::new(FaultKind::Hang).on("GET /screenshot").times(1));
    let path = format!("/session/{}/screenshot", client.session);
    let hung = timeout(Duration::from_millis(300), client.exchange("GET", &path, &Value::Null)).await;
    assert!(hung.is_err(), "no answer comes");
    client.get("/screenshot").await;
    let calls: Vec<_> = client.control.calls().into_iter().map(|call| (call.command, call.outcome)).collect();
    assert!(calls.contains(&("GET /screenshot".to_owned(), "hang".to_owned())), "{calls:?}");
}

#[tokio::test]
async fn sessions_elements_and_alerts() {
    let client = logged_in().await;
    let id = client.find("tab-order").await;
    let click = format!("/element/{id}/click");
    client.control.fail(Fault::new(FaultKind::Stale).times(1));
    assert_eq!(client.refused("POST", &click, json!({})).await, (404, "stale element reference".to_owned()));
    client.control.fail(Fault::new(FaultKind::Alert).times(1));
    let click = format!("/element/{}/click", client.find("tab-order").await);
    let alert = client.refused("POST", &click, json!({})).await;
    assert_eq!(alert, (500, "unexpected alert open".to_owned()));
    client.post("/alert/dismiss", json!({})).await;
    client.post(&click, json!({})).await;
    client.control.fail(Fault::new(FaultKind::Expire).times(1));
    assert_eq!(client.refused("POST", &click, json!({})).await, (404, "invalid session id".to_owned()));
    assert_eq!(client.refused("POST", &click, json!({})).await, (404, "invalid session id".to_owned()));
}

#[tokio::test]
async fn answers_that_are_lost_cut_or_foreign() {
    let client = logged_in().await;
    let id = client.find("tab-order").await;
    let path = format!("/session/{}/element/{id}/click", client.session);
    client.control.fail(Fault::new(FaultKind::Reset).times(1).after());
    assert!(client.exchange("POST", &path, &json!({})).await.is_err());
    assert_eq!(client.control.dump()["tab"], "Order", "it happened, but nobody was told");
    client.control.fail(Fault::new(FaultKind::Truncate).times(1));
    assert!(client.exchange("GET", "/source", &Value::Null).await.is_err());
    client.control.fail(Fault::new(FaultKind::Html).times(1));
    let (status, text) = client.exchange("GET", "/source", &Value::Null).await.unwrap();
    assert!(status == 502 && text.starts_with("<!doctype html>"), "{text}");
    let kind = FaultKind::Refuse { error: "timeout".to_owned(), message: "too slow".to_owned(), status: 408 };
    client.control.fail(Fault::new(kind).times(1));
    assert_eq!(client.refused("GET", "/source", Value::Null).await, (408, "timeout".to_owned()));
}

#[tokio::test]
async fn a_screenshot_of_any_size() {
    let client = start().await;
    let fault =
        json!({"kind": "large_screenshot", "bytes": 3_000_000, "commands": "GET /screenshot", "times": 1});
    let (status, _) = client.raw("POST", "/_control/fail", &fault).await;
    assert_eq!(status, 200);
    let text = client.get("/screenshot").await;
    assert!(text.as_str().unwrap().len() > 4_000_000);
    assert!(client.get("/screenshot").await.as_str().unwrap().len() < 100_000, "once");
    let (status, answer) = client.raw("POST", "/_control/fail", &json!({"kind": "melt"})).await;
    assert!(status == 422 && answer["error"].is_string(), "{answer}");
}
