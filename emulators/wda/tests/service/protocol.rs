//! Sessions, errors, and paths that are not there.

use serde_json::{Value, json};

use crate::support::start;

#[tokio::test]
async fn a_new_session_ends_the_one_before() {
    let mut client = start().await;
    let first = client.session.clone();
    client.open().await;
    assert_ne!(client.session, first);
    let (status, answer) = client.raw("GET", &format!("/session/{first}/source"), &Value::Null).await;
    assert_eq!((status, answer["value"]["error"].as_str()), (404, Some("invalid session id")));
    client.ok("DELETE", "", Value::Null).await;
    let gone = client.refused("GET", "/source", Value::Null).await;
    assert_eq!(gone, (404, "invalid session id".to_owned()));
    let (status, answer) = client.raw("GET", "/source", &Value::Null).await;
    assert_eq!((status, &answer["sessionId"]), (200, &Value::Null), "the source needs none");
}

#[tokio::test]
async fn an_app_of_a_session_starts_and_ends_with_it() {
    let client = start().await;
    client.type_into("username", "left over").await;
    let asked =
        |bundle: &str| json!({"capabilities": {"alwaysMatch": {"bundleId": bundle}, "firstMatch": [{}]}});
    let (status, answer) = client.raw("POST", "/session", &asked("com.example.none")).await;
    assert_eq!((status, answer["value"]["error"].as_str()), (500, Some("session not created")));
    let (_, answer) = client.raw("POST", "/session", &asked("org.example.pantry")).await;
    assert_eq!(client.control.dump()["username"], "", "afresh");
    let session = answer["sessionId"].as_str().unwrap();
    client.raw("DELETE", &format!("/session/{session}"), &Value::Null).await;
    assert_eq!(client.control.dump()["front"], "com.apple.springboard");
}

#[tokio::test]
async fn what_is_refused_and_how() {
    let client = start().await;
    let find = |using: &str, value: &str| json!({"using": using, "value": value});
    for (method, path, body, expected) in [
        ("POST", "/element", find("id", "nobody"), (404, "no such element")),
        ("POST", "/element", find("xpath", "//["), (400, "invalid selector")),
        ("POST", "/element", find("css selector", "a"), (400, "invalid argument")),
        ("POST", "/element", json!({}), (400, "invalid argument")),
        ("GET", "/element/NOBODY/text", Value::Null, (404, "stale element reference")),
        ("POST", "/element/NOBODY/click", json!({}), (404, "stale element reference")),
        ("POST", "/wda/keys", json!({"value": ["a"]}), (400, "invalid element state")),
        ("POST", "/alert/accept", json!({}), (404, "no such alert")),
        ("POST", "/orientation", json!({"orientation": "SIDEWAYS"}), (500, "unknown error")),
        ("POST", "/url", json!({"url": "gopher://x"}), (500, "unknown error")),
        ("POST", "/wda/pressButton", json!({"name": "eject"}), (500, "unknown error")),
        ("GET", "/nowhere", Value::Null, (404, "unknown command")),
        ("POST", "/wda/video/start", json!({}), (404, "unknown command")),
        ("POST", "/wda/swipe", json!({"direction": "sideways"}), (400, "invalid argument")),
        ("POST", "/actions", json!({"actions": 1}), (400, "invalid argument")),
    ] {
        let refused = client.refused(method, path, body).await;
        assert_eq!(refused, (expected.0, expected.1.to_owned()), "{method} {path}");
    }
    assert_eq!(client.post("/elements", find("id", "nobody")).await, json!([]));
    let (status, text) = client.exchange("POST", "/session", &json!("{")).await.unwrap();
    assert!(status == 500 && text.contains("session not created"), "{text}");
}

#[tokio::test]
async fn an_element_keeps_its_id() {
    let client = start().await;
    let id = client.find("username").await;
    assert_eq!(client.find("username").await, id);
    assert_eq!(client.get(&format!("/element/{id}/attribute/placeholderValue")).await, "Name");
    assert_eq!(client.get(&format!("/element/{id}/attribute/isWDEnabled")).await, "true");
    assert_eq!(client.get(&format!("/element/{id}/name")).await, "XCUIElementTypeTextField");
    client.post(&format!("/element/{id}/value"), json!({"text": "ada"})).await;
    let active = client.get("/element/active").await;
    assert_eq!(active["ELEMENT"], json!(id));
    client.post(&format!("/element/{id}/clear"), json!({})).await;
    assert_eq!(client.text("username").await, "Name", "an empty field shows its placeholder");
}

#[tokio::test]
async fn what_the_phone_says_of_itself() {
    let client = start().await;
    let (status, answer) = client.raw("GET", "/status", &Value::Null).await;
    assert_eq!((status, &answer["value"]["ready"]), (200, &json!(true)));
    assert_eq!(client.get("/wda/screen").await["scale"], 2);
    client.post("/wda/simulatedLocation", json!({"latitude": 54.3, "longitude": 10.1})).await;
    assert_eq!(client.get("/wda/simulatedLocation").await, json!({"latitude": 54.3, "longitude": 10.1}));
    client.post("/wda/setPasteboard", json!({"content": "aGk="})).await;
    assert_eq!(client.post("/wda/getPasteboard", json!({})).await, "aGk=");
    client.post("/wda/lock", json!({})).await;
    assert_eq!(client.get("/wda/locked").await, json!(true));
    client.post("/url", json!({"url": "pantry://order"})).await;
    assert_eq!(client.control.dump()["tab"], "Order");
}
