//! Notifications of clients: which upstream gets them, and with which names.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use failwell_gateway::{Endpoint, SessionSharing, UpstreamSettings};
use failwell_rpc::Era;
use failwell_suite::program::Folder;
use serde_json::{Value, json};

use crate::client::{GatewayClient, evil_with, text};
use crate::script::{ConnectionAction, Script, introduced, json_response, raw, response};
use crate::sessions::{memory, memory_upstream};

const CHANGED: &str = "notifications/roots/list_changed";

fn with_roots() -> Value {
    json!({"roots": {"listChanged": true}, "elicitation": {}})
}

fn notice(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// Waits for a question, and answers it with one root.
async fn show_root(world: &mut GatewayClient, uri: &str) {
    let question = loop {
        let message = world.hear().await;
        if message["method"] == "roots/list" {
            break message;
        }
    };
    let result = json!({"roots": [{"uri": uri}]});
    world.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
}

/// A call in which the upstream asks for roots.
async fn call_for_roots(world: &mut GatewayClient, uri: &str) {
    let id = world.start("tools/call", json!({"name": "up__roots", "arguments": {}})).await;
    show_root(world, uri).await;
    while world.hear().await["id"] != id {}
}

/// The recorded messages, once the upstream has received this many responses about roots.
async fn memory_after(world: &mut GatewayClient, count: usize) -> Value {
    for _ in 0..500 {
        let memory = memory(world).await;
        if memory["roots"].as_array().expect("a list").len() >= count {
            return memory;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the upstream was never told: {}", memory(world).await);
}

fn count_root_changes(memory: &Value) -> usize {
    memory["notices"].as_array().expect("a list").iter().filter(|notice| notice["method"] == CHANGED).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_learns_that_roots_changed_and_gets_the_new_ones() {
    for sharing in [None, Some(SessionSharing::PerCaller)] {
        let mut client =
            GatewayClient::new(vec![memory_upstream(sharing)]).await.able(Era::Session, with_roots()).await;
        let before = memory(&mut client).await;
        assert_eq!(before["capabilities"]["roots"], json!({"listChanged": true}), "{sharing:?}");
        client.send(&notice(CHANGED, json!({}))).await;
        assert_eq!(count_root_changes(&memory(&mut client).await), 0, "{sharing:?}: it never asked");
        call_for_roots(&mut client, "file:///old").await;
        client.send(&notice(CHANGED, json!({}))).await;
        show_root(&mut client, "file:///new").await;
        let after = memory_after(&mut client, 2).await;
        assert_eq!(count_root_changes(&after), 1, "{sharing:?}");
        assert_eq!(after["roots"][1]["result"]["roots"][0]["uri"], "file:///new", "{sharing:?}: {after}");
        client.gateway.stop();
    }
}

/// The upstream asks for roots right after the handshake, as the reference filesystem server does.
fn asking_at_once(sharing: Option<SessionSharing>) -> UpstreamSettings {
    let mut settings = memory_upstream(sharing);
    if let Endpoint::Child { environment, .. } = &mut settings.endpoint {
        environment.push(("MEMORY_UPSTREAM_ROOTS".to_owned(), failwell_fault::Secret::new("yes".to_owned())));
    }
    settings
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_asks_for_roots_after_initialize_gets_them() {
    for sharing in [None, Some(SessionSharing::PerCaller)] {
        let mut client =
            GatewayClient::new(vec![asking_at_once(sharing)]).await.able(Era::Session, with_roots()).await;
        let id = client.start("tools/call", json!({"name": "up__memory", "arguments": {}})).await;
        let mut answered = false;
        let mut shown = false;
        while !(answered && shown) {
            let message = client.hear().await;
            answered |= message["id"] == id;
            if message["method"] == "roots/list" {
                let result = json!({"roots": [{"uri": "file:///here"}]});
                client.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})).await;
                shown = true;
            }
        }
        let after = memory_after(&mut client, 1).await;
        assert_eq!(after["roots"][0]["result"]["roots"][0]["uri"], "file:///here", "{sharing:?}: {after}");
        client.gateway.stop();
    }
}

/// A single upstream starts during the client's handshake. Its questions are held until the handshake is complete.
#[tokio::test(flavor = "multi_thread")]
async fn a_child_that_asks_for_roots_during_initialize_gets_them() {
    for sharing in [None, Some(SessionSharing::PerCaller)] {
        let world = GatewayClient::new(vec![asking_at_once(sharing)]).await;
        let mut client = world.able_before(world.gateway.single("up"), with_roots()).await;
        assert!(
            !client.transcript.contains("roots/list"),
            "{sharing:?}: asked too early: {}",
            client.transcript
        );
        let shown =
            tokio::time::timeout(Duration::from_secs(45), show_root(&mut client, "file:///here")).await;
        if shown.is_err() {
            panic!("{sharing:?}: never asked: {}", client.call("memory", json!({})).await);
        }
        let roots = loop {
            let answer = client.call("memory", json!({})).await;
            let memory: Value = serde_json::from_str(text(&answer)).expect("JSON");
            if !memory["roots"][0].is_null() {
                break memory["roots"].clone();
            }
        };
        assert_eq!(roots[0]["result"]["roots"][0]["uri"], "file:///here", "{sharing:?}: {roots}");
        world.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_of_several_clients_gets_no_roots() {
    let folder = Folder::create();
    let log = folder.path().join("log");
    let mut settings = memory_upstream(None);
    if let Endpoint::Child { environment, .. } = &mut settings.endpoint {
        let path = log.to_str().expect("UTF-8").to_owned();
        environment.push(("MEMORY_UPSTREAM_LOG".to_owned(), failwell_fault::Secret::new(path)));
    }
    let world = GatewayClient::new(vec![settings]).await;
    let mut first = world.able(Era::Session, with_roots()).await;
    let mut second = world.able(Era::Session, with_roots()).await;
    call_for_roots(&mut first, "file:///first").await;
    memory(&mut second).await;
    // The upstream never asked for these roots, so the change is not forwarded.
    second.send(&notice(CHANGED, json!({}))).await;
    memory(&mut second).await;
    first.send(&notice(CHANGED, json!({}))).await;
    // During a call, the question would go to that client, so the test makes no call until the response has arrived.
    let declined = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("-32601"));
    for _ in 0..1_000 {
        if declined() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let after = memory_after(&mut first, 2).await;
    assert_eq!(count_root_changes(&after), 1, "{after}");
    assert_eq!(after["roots"][1]["error"]["code"], -32601, "{after}");
    let asked = |client: &GatewayClient| client.transcript.matches(r#""method":"roots/list""#).count();
    assert_eq!((asked(&first), asked(&second)), (1, 0), "{} {}", first.transcript, second.transcript);
    world.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_comes_after_another_is_the_only_one() {
    let world = GatewayClient::new(vec![memory_upstream(None)]).await;
    let mut first = world.able(Era::Session, with_roots()).await;
    call_for_roots(&mut first, "file:///first").await;
    first.leave().await;
    let mut second = world.able(Era::Session, with_roots()).await;
    memory(&mut second).await;
    second.send(&notice(CHANGED, json!({}))).await;
    show_root(&mut second, "file:///second").await;
    let after = memory_after(&mut second, 2).await;
    assert_eq!(after["roots"][1]["result"]["roots"][0]["uri"], "file:///second", "{after}");
    world.gateway.stop();
}

/// Over HTTP the question comes on the stream that belongs to no request.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_over_http_learns_the_new_roots() {
    // The upstream asks when the tool is called, and again when roots changed.
    let asks = Arc::new(AtomicBool::new(false));
    let asking = asks.clone();
    let script = Script::new(move |seen| match (seen.verb.as_str(), seen.method()) {
        ("GET", _) => {
            let question = match asking.swap(false, Ordering::SeqCst) {
                true => "data: {\"jsonrpc\":\"2.0\",\"id\":\"roots\",\"method\":\"roots/list\"}\n\n",
                false => "",
            };
            let head = "HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            raw(&format!("{head}retry: 100\n\n{question}"), ConnectionAction::Close)
        }
        ("POST", CHANGED) => {
            asking.store(true, Ordering::SeqCst);
            response(202, "", "")
        }
        ("POST", "tools/call") => {
            let result = json!({"content": [{"type": "text", "text": "fine"}]});
            json_response(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}))
        }
        _ => introduced(Era::Session, seen).unwrap_or_else(|| response(202, "", "")),
    })
    .await;
    let world = GatewayClient::new(vec![script.settings("up")]).await;
    let mut client = world.able(Era::Session, with_roots()).await;
    assert_eq!(text(&client.call("up__t", json!({})).await), "fine");
    asks.store(true, Ordering::SeqCst);
    show_root(&mut client, "file:///old").await;
    assert_eq!(answer_about_roots(&script, 0).await["result"]["roots"][0]["uri"], "file:///old");
    client.send(&notice(CHANGED, json!({}))).await;
    show_root(&mut client, "file:///new").await;
    assert_eq!(answer_about_roots(&script, 1).await["result"]["roots"][0]["uri"], "file:///new");
    world.gateway.stop();
}

async fn answer_about_roots(script: &Script, place: usize) -> Value {
    for _ in 0..1_000 {
        let answers: Vec<Value> = script.seen().into_iter().map(|seen| seen.body).collect();
        if let Some(answer) = answers.iter().filter(|body| body["id"] == "roots").nth(place) {
            return answer.clone();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the upstream was never answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modern_server_gets_no_roots_and_a_modern_client_sends_none() {
    let folder = Folder::create();
    for (client, upstream) in [(Era::Session, "modern"), (Era::Modern, "modern"), (Era::Modern, "session")] {
        let log = folder.path().join(format!("{client:?}-{upstream}"));
        let path = log.to_str().expect("UTF-8");
        let mut world =
            GatewayClient::of(client, vec![evil_with(&[("EVIL_ERA", upstream), ("EVIL_LOG", path)])]).await;
        world.call("ev__echo", json!({})).await;
        world.send(&notice(CHANGED, json!({}))).await;
        world.call("ev__echo", json!({})).await;
        let text = std::fs::read_to_string(&log).expect("a log");
        assert!(text.contains("tools/call echo") && !text.contains("roots"), "{client:?} {upstream}: {text}");
        world.gateway.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_hears_under_its_own_token_how_far_an_answer_is() {
    let mut world = GatewayClient::new(vec![memory_upstream(None)]).await;
    let arguments = json!({"what": "who?", "token": 7});
    let id = world.start("tools/call", json!({"name": "up__ask", "arguments": arguments})).await;
    let question = loop {
        let message = world.hear().await;
        if message["method"] == "elicitation/create" {
            break message;
        }
    };
    let meta = &question["params"]["_meta"];
    assert_eq!((&meta["progressToken"], &meta["x-kept"]), (&question["id"], &json!(true)), "{question}");
    let token = &meta["progressToken"];
    world.send_line(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":0.50,"x-unknown":1}}}}"#
    ))
    .await;
    // An unknown token belongs to no call.
    world.send(&notice("notifications/progress", json!({"progressToken": 7_000, "progress": 1}))).await;
    let far = |memory: &Value| {
        let notices = memory["notices"].as_array().expect("a list").iter();
        notices.filter(|notice| notice["method"] == "notifications/progress").cloned().collect::<Vec<_>>()
    };
    let mut notices = Vec::new();
    for _ in 0..200 {
        notices = far(&memory(&mut world).await);
        if !notices.is_empty() {
            break;
        }
    }
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!(notices[0]["params"], json!({"progressToken": 7, "progress": 0.5, "x-unknown": 1}));
    let accepted = json!({"action": "accept", "content": {"a": "answered"}});
    world.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted})).await;
    let answer = loop {
        let message = world.hear().await;
        if message["id"] == id {
            break message;
        }
    };
    assert!(text(&answer).contains("answered"), "{answer}");
    assert!(
        world.pipeline.metrics().contains("failwell_notices_dropped_total 1"),
        "{}",
        world.pipeline.metrics()
    );
    world.gateway.stop();
}

/// A modern client answers with its next request, and sends no notifications.
#[tokio::test(flavor = "multi_thread")]
async fn a_modern_client_gets_no_token_it_could_not_use() {
    let world = GatewayClient::new(vec![memory_upstream(None)]).await;
    let mut client = world.at_reference(Era::Modern).await;
    let arguments = json!({"what": "who?", "token": 7});
    let asked = client.call("up__ask", arguments).await;
    let questions = asked["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
    let params = &questions.values().next().expect("a question")["params"];
    assert_eq!(params["_meta"], json!({"x-kept": true}), "{asked}");
    world.gateway.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_notifications_are_dropped_and_counted() {
    for era in [Era::Session, Era::Modern] {
        let mut world = GatewayClient::of(era, vec![memory_upstream(None)]).await;
        for method in ["notifications/x-unknown", "notifications/message", "x-nothing"] {
            world.send(&notice(method, json!({"data": "up"}))).await;
        }
        let memory = memory(&mut world).await;
        let methods: Vec<&Value> =
            memory["notices"].as_array().expect("a list").iter().map(|notice| &notice["method"]).collect();
        assert_eq!(methods, ["notifications/initialized"], "{era:?}");
        let numbers = world.pipeline.metrics();
        assert!(numbers.contains("failwell_notices_dropped_total 3"), "{era:?}: {numbers}");
        world.gateway.stop();
    }
}
